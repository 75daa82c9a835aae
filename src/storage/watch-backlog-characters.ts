import type { StorageOptions } from '../base/config/storage.options.js';
import { memoryLimits } from '../base/machinery/memory-limits.js';

const partOfHeap = 1 / 8;

/** What watches may not have got yet, in UTF-16 units of JSON: most text takes a byte of memory for each. */
export function watchBacklogCharacters({ watchBacklogMaxBytes }: Pick<StorageOptions, 'watchBacklogMaxBytes'>): number {
  return watchBacklogMaxBytes ?? Math.floor(memoryLimits().heap * partOfHeap);
}
