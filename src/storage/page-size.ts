import type { ListPage } from './storage.interface.js';

/** Number of objects on the first page when all objects of a resource are read. */
export const firstPageSize = 500;
const largestPageSize = 4_000;
const smallestPageSize = 16;
/** The target size of a page, in UTF-16 units of JSON. */
const pageCharacters = 4 * 1024 * 1024;
/**
 * A page ends when it exceeds this many bytes, however few objects it has: they may be much larger than those of the
 * page before.
 */
export const mostPageBytes = 2 * pageCharacters;

/** How many objects to read on the next page, if they are as large as the objects of this page. */
export function nextPageSize({ items }: Pick<ListPage, 'items'>): number {
  const size = items.reduce((sum, item) => sum + item.json.length, 0);
  const fitting = Math.floor((pageCharacters * items.length) / Math.max(1, size));
  return Math.max(smallestPageSize, Math.min(largestPageSize, fitting));
}
