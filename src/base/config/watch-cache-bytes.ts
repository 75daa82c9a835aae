import type { MemoryLimits } from '../machinery/memory-limits.js';

/** A smaller cache would not be worth its cost. */
export const leastCacheBytes = 1_048_576;
const partOfHeap = 0.5;
const partOfMachine = 0.25;

/**
 * The value of `--watch-cache-max-bytes`, or its default: half of the heap, and for all workers together no more than a
 * quarter of the memory.
 *
 * @param workers the value of `--workers`
 * @param cores the number of workers that 0 stands for
 */
export function watchCacheBytes(
  flag: number | undefined,
  workers: number,
  cores: number,
  { heap, machine }: MemoryLimits,
): number {
  if (flag !== undefined) return flag;
  const processes = Math.max(1, workers === 0 ? cores : workers);
  return Math.max(leastCacheBytes, Math.floor(Math.min(heap * partOfHeap, (machine * partOfMachine) / processes)));
}
