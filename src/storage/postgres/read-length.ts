import type { Statement } from './session.js';

/** Whether a read is over soon, or may take long: it reads many objects, or searches them. */
export type ReadLength = 'short' | 'long';

/** How long a read with this statement may take. */
export function readLength({ name }: Statement): ReadLength {
  return longReads.has(name) ? 'long' : 'short';
}

const longReads: ReadonlySet<string> = new Set([
  'list-page',
  'list-page-within',
  'past-page',
  'find-page',
  'find-blocks',
  'changed-keys',
  'objects-at',
  'count-objects',
  'count-few-objects',
  'aged-objects',
  'census',
]);
