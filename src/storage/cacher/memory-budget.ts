import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** The memory that the process can spare for caches. */
export interface MemoryBudget {
  /** The most bytes that all caches together may use at the moment. */
  readonly most: number;
  stop(): void;
}

/** Creates the budget for caches that use `cacheBytes` bytes; calls `onChange` when `most` may have changed. */
export type OpenMemoryBudget = (cacheBytes: () => number, onChange: () => void) => MemoryBudget;

/** The share of the heap that is kept free for requests: at least this much... */
const reservedPart = 0.15;
/** ...and in a small heap at least this many bytes, but at most the following share of the heap. */
const reservedBytes = 128 * 2 ** 20;
const mostReserved = 0.4;

/** How many bytes of live objects a heap of the given size may contain. */
export function liveBytes(heapBytes: number): number {
  return heapBytes - Math.max(heapBytes * reservedPart, Math.min(reservedBytes, heapBytes * mostReserved));
}

/**
 * The budget within the engine's heap; a process that exceeds the heap limit crashes. Each full garbage collection
 * shows how much of the heap belongs to others than the caches; that amount is reserved for them from then on.
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

/** An unlimited budget: for tests, and where something else bounds the caches. */
export const unlimitedBudget: OpenMemoryBudget = () => ({ most: Number.POSITIVE_INFINITY, stop: () => {} });

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
