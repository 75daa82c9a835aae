import type { StorageOptions } from '../base/config/storage.options.js';
import { memoryLimits } from '../base/machinery/memory-limits.js';

const partOfHeap = 1 / 8;

/**
 * The largest backlog of all watches together, in UTF-16 units of JSON: most text takes one byte of memory per unit.
 */
export function watchBacklogCharacters({ watchBacklogMaxBytes }: Pick<StorageOptions, 'watchBacklogMaxBytes'>): number {
  return watchBacklogMaxBytes ?? Math.floor(memoryLimits().heap * partOfHeap);
}
