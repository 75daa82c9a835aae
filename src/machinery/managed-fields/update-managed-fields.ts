import type { ApiObject, ManagedFieldsEntry } from '../api-object.js';
import {
  type Comparison,
  compareObjects,
  difference,
  emptySet,
  type FieldSet,
  isEmptySet,
  leafDifference,
  recursiveDifference,
  rootView,
  union,
  zeroObject,
} from '../field-set/index.js';
import type { KindType } from '../schema/index.js';
import {
  encodeOwners,
  type Identity,
  isReset,
  type OwnerEntry,
  ownersBefore,
  sameOwner,
  withFields,
} from './entries.js';

/** How an object looks in another served version of its resource. */
export interface VersionView {
  readonly type: KindType;
  /** Must not change its argument. */
  readonly convert: (object: ApiObject) => ApiObject;
}

export interface ManagedFieldsOptions {
  /** Who writes; empty becomes `unknown`. */
  readonly manager: string;
  /** The version both objects are in. */
  readonly apiVersion: string;
  /** RFC 3339, whole seconds. */
  readonly time: string;
  /** Recorded in the entry, and keeps entries of different subresources apart. */
  readonly subresource?: string;
  /**
   * Fields that this write can't change, whatever the body says (`{"f:status":{}}` for a write to the main resource):
   * nobody gains or loses them.
   */
  readonly resetFields?: FieldSet;
  /**
   * The object in the version of another entry; undefined when that version is not served any more, which forgets the
   * entry. Without this option every entry is taken to speak of the written version.
   */
  readonly versions?: (apiVersion: string) => VersionView | undefined;
}

/**
 * The managedFields of an object after a create or update: the writer owns what is new or has another value, others lose
 * that and what is gone, and owners of nothing vanish. Fields written with the value they had change no owner, and a
 * write that changes nothing keeps all entries and times. `live` is undefined for a create.
 *
 * An object whose live form has no managedFields stays untracked (undefined is returned) until it is applied or the
 * client sets them, so that the first applier still meets everything there was before as somebody else's.
 *
 * Both objects are canonical objects of `type` and are not changed; entries that stay the same are shared with them.
 */
export function updateManagedFields(
  type: KindType,
  live: ApiObject | undefined,
  next: ApiObject,
  options: ManagedFieldsOptions & { readonly operation?: 'Update' },
): ManagedFieldsEntry[] | undefined {
  const sent = next.metadata.managedFields;
  const owners = ownersBefore(live?.metadata.managedFields, sent);
  if (live !== undefined && owners.length === 0 && !isReset(sent)) return undefined;
  const comparison = compareTracked(type, live, next, options.resetFields);
  return encodeOwners(ownersAfterUpdate(owners, live, next, comparison, options));
}

/** Compares without the fields the write can't change. */
export function compareTracked(
  type: KindType,
  live: ApiObject | undefined,
  next: ApiObject,
  resetFields: FieldSet = emptySet,
): Comparison {
  const { changed, removed } = compareObjects(rootView(type), live ?? zeroObject(type), next);
  if (isEmptySet(resetFields)) return { changed, removed };
  return { changed: recursiveDifference(changed, resetFields), removed: recursiveDifference(removed, resetFields) };
}

export function ownersAfterUpdate(
  owners: readonly OwnerEntry[],
  live: ApiObject | undefined,
  next: ApiObject,
  comparison: Comparison,
  options: ManagedFieldsOptions,
): OwnerEntry[] {
  if (isEmptySet(comparison.changed) && isEmptySet(comparison.removed)) return [...owners];
  const writer: Identity = {
    manager: options.manager === '' ? 'unknown' : options.manager,
    operation: 'Update',
    apiVersion: options.apiVersion,
    subresource: options.subresource ?? '',
  };
  const seenIn = comparisonsByVersion(live, next, comparison, options);
  const after: OwnerEntry[] = [];
  let writerSeen = false;
  for (const owner of owners) {
    if (sameOwner(owner, writer)) {
      writerSeen = true;
      const kept = withFields(owner, difference(owner.fields, comparison.removed));
      const fields = union(kept.fields, comparison.changed);
      // Only what a writer sets counts as a change of its own, not what it removes.
      const active = !isEmptySet(comparison.changed);
      after.push(active ? { ...kept, fields, time: options.time, stored: undefined } : kept);
      continue;
    }
    const seen = seenIn(owner.apiVersion);
    if (seen !== undefined) after.push(withFields(owner, withoutDifferences(owner.fields, seen)));
  }
  if (!writerSeen) after.push({ ...writer, time: options.time, fields: comparison.changed, stored: undefined });
  return after;
}

/** What a write changed, as seen in each version that entries speak of; undefined for one that is not served. */
export function comparisonsByVersion(
  live: ApiObject | undefined,
  next: ApiObject,
  own: Comparison,
  options: ManagedFieldsOptions,
): (apiVersion: string) => Comparison | undefined {
  const known = new Map<string, Comparison | undefined>();
  return (apiVersion) => {
    if (apiVersion === options.apiVersion || options.versions === undefined) return own;
    if (!known.has(apiVersion)) {
      const view = options.versions(apiVersion);
      known.set(apiVersion, view === undefined ? undefined : compareConverted(view, live, next, options.resetFields));
    }
    return known.get(apiVersion);
  };
}

function compareConverted(
  view: VersionView,
  live: ApiObject | undefined,
  next: ApiObject,
  resetFields: FieldSet | undefined,
): Comparison {
  const before = live === undefined ? undefined : view.convert(live);
  return compareTracked(view.type, before, view.convert(next), resetFields);
}

/**
 * What is left to an owner after a write by somebody else. A changed path without parts was written as a whole: whoever
 * owned parts of it (because the type was granular once) loses them.
 */
export function withoutDifferences(fields: FieldSet, { changed, removed }: Comparison): FieldSet {
  return leafDifference(leafDifference(fields, changed), removed);
}
