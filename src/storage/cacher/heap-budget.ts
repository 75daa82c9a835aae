import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { liveBytes, type MemoryBudget } from './memory-budget.js';

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

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
