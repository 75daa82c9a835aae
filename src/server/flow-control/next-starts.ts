import type { QueueSet } from './queue-set.js';
import { totalWork } from './work.js';

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/**
 * The minimum and maximum, over all queues with waiting requests, of the virtual time at which their next request
 * begins. In `discounted`, the expected work of running requests is subtracted. Undefined when no request waits.
 */
export function nextStarts<T>(set: QueueSet<T>): { readonly next: Bounds; readonly discounted: Bounds } | undefined {
  const next: number[] = [];
  const discounted: number[] = [];
  for (const { waiting, running, nextDispatchR } of set.allQueues()) {
    if (waiting.length === 0) continue;
    let work = 0;
    for (const ticket of running) work += totalWork(ticket.work);
    next.push(nextDispatchR);
    discounted.push(nextDispatchR - work);
  }
  return next.length === 0 ? undefined : { next: boundsOf(next), discounted: boundsOf(discounted) };
}

function boundsOf(values: readonly number[]): Bounds {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return { min, max };
}
