import type { ApiObject, ManagedFieldsEntry } from '../api-object.js';
import {
  type Comparison,
  compareObjects,
  difference,
  type FieldPattern,
  type FieldSet,
  isEmptySet,
  leafDifference,
  matchingFields,
  recursiveDifference,
  rootView,
  union,
  zeroObject,
} from '../field-set/index.js';
import { emptyListPaths, givenBody, type KindType } from '../schema/index.js';
import {
  encodeOwners,
  isReset,
  type ManagerIdentity,
  type OwnerEntry,
  ownersBefore,
  sameOwner,
  withFields,
} from './entries.js';

/** Access to another served version of an object. */
export interface VersionView {
  readonly type: KindType;
  /** Must not change its argument. */
  readonly convert: (object: ApiObject) => ApiObject;
}

/** Which fields a write through an API path can own. */
export interface OwnershipRules {
  /**
   * Fields that the write can't change, whatever the body contains (`{"f:status":{}}` for a write to the main resource):
   * their owners stay the same.
   */
  readonly resetFields?: FieldSet;
  /** The only fields that the write can change, including the fields on their paths; default: all. */
  readonly ownedFields?: FieldPattern;
}

export interface ManagedFieldsOptions extends OwnershipRules {
  /** The writer's name; an empty name becomes `unknown`. */
  readonly manager: string;
  /** The version of both objects. */
  readonly apiVersion: string;
  /** RFC 3339 with whole seconds. */
  readonly time: string;
  /** Recorded in the entry; separates the entries of different subresources. */
  readonly subresource?: string;
  /**
   * Converts the object to the version of another entry. Undefined if that version is unknown: the entry is then
   * dropped. Without this option, all entries are assumed to use the written version.
   */
  readonly versions?: (apiVersion: string) => VersionView | undefined;
}

/**
 * The managedFields after a create or update. The writer owns new and changed fields, the other owners lose those and
 * the removed ones, and owners without fields disappear. Writing an unchanged value changes no owner, and a write
 * without changes keeps all entries and times. `live` is undefined for a create.
 *
 * If the live object has no managedFields, it stays untracked (the result is undefined) until it is applied or the
 * client sets them. The first applier then finds that all existing fields belong to somebody else.
 *
 * Both objects are canonical objects of `type`; neither is changed. Unchanged entries are shared with them.
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
  const compared = compareTracked(type, live, next, options);
  const comparison = live === undefined ? withEmptyLists(type, next, compared, options) : compared;
  return encodeOwners(ownersAfterUpdate(owners, live, next, comparison, options));
}

/** The creator of an object also owns lists that it sent as empty ones, and that the object always has. */
function withEmptyLists(type: KindType, next: ApiObject, compared: Comparison, rules: OwnershipRules): Comparison {
  const body = givenBody(next);
  if (body === undefined) return compared;
  let { changed } = compared;
  for (const path of emptyListPaths(type, body)) {
    const field = path.reduceRight<FieldSet>((below, name) => ({ [`f:${name}`]: below }), {});
    changed = union(changed, ownable(field, rules));
  }
  return { ...compared, changed };
}

/** Compares without the fields that the write can't change. */
export function compareTracked(
  type: KindType,
  live: ApiObject | undefined,
  next: ApiObject,
  rules: OwnershipRules = {},
): Comparison {
  const { changed, removed } = compareObjects(rootView(type), live ?? zeroObject(type), next);
  return { changed: ownable(changed, rules), removed: ownable(removed, rules) };
}

/** The fields of a set that a write can own. */
export function ownable(fields: FieldSet, { resetFields, ownedFields }: OwnershipRules): FieldSet {
  const kept = resetFields === undefined ? fields : recursiveDifference(fields, resetFields);
  return ownedFields === undefined ? kept : matchingFields(kept, ownedFields);
}

export function ownersAfterUpdate(
  owners: readonly OwnerEntry[],
  live: ApiObject | undefined,
  next: ApiObject,
  comparison: Comparison,
  options: ManagedFieldsOptions,
): OwnerEntry[] {
  if (isEmptySet(comparison.changed) && isEmptySet(comparison.removed)) return [...owners];
  const writer: ManagerIdentity = {
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
      // The writer itself counts as having changed only what it set, not what it removed.
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

/** The changes of a write, in each version that the entries use; undefined for an unknown version. */
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
      known.set(apiVersion, view === undefined ? undefined : compareConverted(view, live, next, options));
    }
    return known.get(apiVersion);
  };
}

function compareConverted(
  view: VersionView,
  live: ApiObject | undefined,
  next: ApiObject,
  rules: OwnershipRules,
): Comparison {
  const before = live === undefined ? undefined : view.convert(live);
  return compareTracked(view.type, before, view.convert(next), rules);
}

/**
 * The fields that remain with an owner after somebody else's write. A changed path without parts was written as a
 * whole: owners of its parts (from when the type was granular) lose them.
 */
export function withoutDifferences(fields: FieldSet, { changed, removed }: Comparison): FieldSet {
  return leafDifference(leafDifference(fields, changed), removed);
}
