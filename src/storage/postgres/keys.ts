import { compareBytewise } from '../../base/machinery/compare-bytewise.js';
import { comparePositions } from '../key-order.js';
import type { ListPosition, ListScope } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';

/** A half-open range of keys in (namespace, name) byte order, and a name to filter by when it spans namespaces. */
export interface KeyRange {
  readonly resource: string;
  readonly fromNamespace: string;
  readonly fromName: string;
  readonly toNamespace: string;
  readonly toName: string;
  readonly onlyName: string | null;
}

/** A character after which no key sorts. */
const LAST = '\u{10FFFF}';
/** A suffix: with it, a string becomes the first string that sorts after the original and everything equal to it. */
const NEXT = '\u0001';

/** One string per key, for maps; keys can't hold the separator. */
export function keyString(key: StorageKey): string {
  return `${key.resource}\u0000${key.namespace}\u0000${key.name}`;
}

const MOST_CHARACTERS = 512;

/** Whether the database can store the text as a part of a key and find it again under the same spelling. */
function isStorable(part: string): boolean {
  if (part.length > MOST_CHARACTERS || !part.isWellFormed()) return false;
  return !part.includes('\u0000') && !part.includes(NEXT) && !part.includes(LAST);
}

/** Whether an object can live under the key. */
export function isStorableKey(key: StorageKey): boolean {
  if (key.resource === '' || key.name === '') return false;
  return isStorable(key.resource) && isStorable(key.namespace) && isStorable(key.name);
}

/** The string itself or, if it can't be part of a key, a string that no key contains. */
export function searchable(part: string): string {
  return isStorable(part) ? part : NEXT;
}

/** The keys of a scope after `after`. */
export function keyRange(scope: ListScope, after: ListPosition | undefined): KeyRange {
  const resource = searchable(scope.resource);
  const namespace = scope.namespace === undefined ? undefined : searchable(scope.namespace);
  const name = scope.name === undefined ? undefined : searchable(scope.name);
  if (after !== undefined && !(isStorable(after.namespace) && isStorable(after.name))) {
    throw new StorageError('Invalid', 'the position to continue from is not a key');
  }
  const onlyName = name ?? null;
  const toNamespace = namespace === undefined ? LAST : namespace + NEXT;
  // A position in an earlier namespace must not make the range begin outside the scope.
  const isBefore = after !== undefined && namespace !== undefined && compareBytewise(after.namespace, namespace) < 0;
  const start = isBefore ? undefined : after;
  const fromNamespace = start?.namespace ?? namespace ?? '';
  const fromName = start === undefined ? '' : start.name + NEXT;
  if (namespace === undefined || name === undefined) {
    return { resource, fromNamespace, fromName, toNamespace, toName: '', onlyName };
  }
  // For one object, the range is narrow enough without the filter, but a page may start after the object.
  return {
    resource,
    fromNamespace: namespace,
    fromName: after === undefined || comparePositions(after, { namespace, name }) < 0 ? name : name + NEXT,
    toNamespace: namespace,
    toName: name + NEXT,
    onlyName,
  };
}
