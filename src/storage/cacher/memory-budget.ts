import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** What the memory of the process has room for beside everything else that it holds. */
export interface MemoryBudget {
  /** Most bytes that all caches may take together at the moment. */
  readonly most: number;
  stop(): void;
}

/** Makes the room of caches that take as much as `cacheBytes` says; calls `onChange` when `most` may have changed. */
export type OpenMemoryBudget = (cacheBytes: () => number, onChange: () => void) => MemoryBudget;

/** The part of the heap that is kept free for requests: at least so much of it... */
const reservedPart = 0.15;
/** ...and in a small one so many bytes, unless that is more than the next part of it. */
const reservedBytes = 128 * 2 ** 20;
const mostReserved = 0.4;

/** How many bytes may live in a heap of that size. */
export function liveBytes(heapBytes: number): number {
  return heapBytes - Math.max(heapBytes * reservedPart, Math.min(reservedBytes, heapBytes * mostReserved));
}

/**
 * The room in the heap of the engine, whose limit no process survives. What lives there is known after each full garbage
 * collection; what was not of the caches then is taken to be needed from then on.
 */
export class HeapBudget implements MemoryBudget {
  private readonly limit = liveBytes(getHeapStatistics().heap_size_limit);
  private readonly observer: PerformanceObserver;
  private others = 0;

  constructor(cacheBytes: () => number, onChange: () => void) {
    this.observer = new PerformanceObserver((list) => {
      if (!list.getEntries().some(isFull)) return;
      this.others = Math.max(0, getHeapStatistics().used_heap_size - cacheBytes());
      onChange();
    });
    this.observer.observe({ entryTypes: ['gc'] });
  }

  get most(): number {
    return Math.max(0, this.limit - this.others);
  }

  stop(): void {
    this.observer.disconnect();
  }
}

/** Room without end: for tests, and where something else bounds the caches. */
export const unlimitedBudget: OpenMemoryBudget = () => ({ most: Number.POSITIVE_INFINITY, stop: () => {} });

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
