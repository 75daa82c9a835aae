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

/** An unlimited budget: for tests, and where something else bounds the caches. */
export const unlimitedBudget: OpenMemoryBudget = () => ({ most: Number.POSITIVE_INFINITY, stop: () => {} });
