import { StorageError } from '../storage.errors.js';
import type { ListPosition, Scope, StorageKey } from '../storage.interface.js';

/** A half-open range of keys in (namespace, name) byte order, and a name to filter by when it spans namespaces. */
export interface KeyRange {
  readonly resource: string;
  readonly fromNamespace: string;
  readonly fromName: string;
  readonly toNamespace: string;
  readonly toName: string;
  readonly onlyName: string | null;
}

/** The character after which no key sorts. */
const LAST = '\u{10FFFF}';
/** Appended to a string: the first string that sorts behind it and everything equal to it. */
const NEXT = '\u0001';

/** One string per key, for maps; keys can't hold the separator. */
export function keyString(key: StorageKey): string {
  return `${key.resource}\u0000${key.namespace}\u0000${key.name}`;
}

/** Throws `Invalid` for a key the database could not store or find again under the same spelling. */
export function checkKey(key: StorageKey): void {
  if (key.resource === '' || key.name === '')
    throw new StorageError('Invalid', 'a key needs a resource and a name', { key });
  for (const part of [key.resource, key.namespace, key.name]) {
    if (part.length > 512)
      throw new StorageError('Invalid', 'a part of the key is longer than 512 characters', { key });
    if (!part.isWellFormed() || /[\u0000\u0001\u{10FFFF}]/u.test(part)) {
      throw new StorageError('Invalid', 'the key has a character that can not be stored', { key });
    }
  }
}

/** The keys of a scope behind `after`. */
export function keyRange(scope: Scope, after: ListPosition | undefined): KeyRange {
  const { resource, namespace, name } = scope;
  const onlyName = name ?? null;
  const toNamespace = namespace === undefined ? LAST : namespace + NEXT;
  const fromNamespace = after?.namespace ?? namespace ?? '';
  const fromName = after === undefined ? '' : after.name + NEXT;
  if (namespace === undefined || name === undefined) {
    return { resource, fromNamespace, fromName, toNamespace, toName: '', onlyName };
  }
  // One object: the range is narrow enough without the filter, except that a page may start behind it.
  return {
    resource,
    fromNamespace: namespace,
    fromName: after === undefined || compareKeys(after, { namespace, name }) < 0 ? name : name + NEXT,
    toNamespace: namespace,
    toName: name + NEXT,
    onlyName,
  };
}

/** Byte order of (namespace, name), as the database sorts. */
export function compareKeys(a: ListPosition, b: ListPosition): number {
  return compareBytes(a.namespace, b.namespace) || compareBytes(a.name, b.name);
}

function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
