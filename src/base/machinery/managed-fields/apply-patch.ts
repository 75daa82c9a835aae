import type { ApiObject } from '../api-object.js';
import {
  type Comparison,
  claimedPaths,
  difference,
  emptySet,
  equalSets,
  type FieldSet,
  fitToType,
  formatPaths,
  intersection,
  isEmptySet,
  mergeObjects,
  removePaths,
  rootView,
  type StructView,
  serverFields,
  union,
  withFieldsOnTheWay,
} from '../field-set/index.js';
import { isObject, type JsonObject } from '../patch/json-value.js';
import type { KindType } from '../schema/index.js';
import { checkApplied, prepareApplied } from './applied-config.js';
import type { FieldConflict } from './conflicts.js';
import { encodeOwners, type ManagerIdentity, type OwnerEntry, ownersBefore, sameOwner, withFields } from './entries.js';
import { allowedConflicts, clientSideManager, recordLastApplied } from './last-applied.js';
import {
  compareTracked,
  comparisonsByVersion,
  type ManagedFieldsOptions,
  ownable,
  ownersAfterUpdate,
  withoutDifferences,
} from './update-managed-fields.js';

export interface ApplyPatchOptions extends ManagedFieldsOptions {
  /** Takes fields from other owners instead of reporting conflicts. */
  readonly force: boolean;
  /** Keeps undeclared fields instead of refusing them, for custom resources that preserve unknown fields. */
  readonly allowUndeclared?: boolean;
  /**
   * The annotation in which a client-side applier recorded its last configuration. When the same client uses
   * server-side apply, it takes over the recorded fields that still have their live value, without a conflict. The
   * annotation is kept up to date.
   */
  readonly lastAppliedAnnotation?: string;
  /**
   * For an apply through a subresource of another kind: the conflict to report if it changes fields that nobody owns.
   * They were there before the first apply.
   */
  readonly unowned?: Omit<FieldConflict, 'manager' | 'operation'> | undefined;
}

export type ApplyResult =
  | { readonly kind: 'applied'; readonly object: ApiObject }
  | { readonly kind: 'conflicts'; readonly conflicts: readonly FieldConflict[] };

/** Manager of all fields that an object had before its first apply. */
const firstManager = 'before-first-apply';

/**
 * Server-side apply: merges `config`, the applier's full intent as parsed from the request, into the live object
 * (undefined: the object is to be created). Fields that the applier owned and no longer claims are removed, unless
 * somebody else owns them. The result is not canonical: decode and default it before storing. Its managedFields are
 * set; if nothing changed, they are the live ones. No argument is changed; the result shares parts of them.
 *
 * Throws a StatusError (500 without a reason) listing every fault, if the config does not fit `type`, and a BadRequest
 * if it is of another kind.
 */
export function applyPatch(
  type: KindType,
  live: ApiObject | undefined,
  config: JsonObject,
  options: ApplyPatchOptions,
): ApplyResult {
  checkApplied(type, config, options.apiVersion, options.allowUndeclared ?? false);
  const result = applyChecked(type, live, prepareApplied(type, config), options);
  const { lastAppliedAnnotation: annotation } = options;
  if (live === undefined || annotation === undefined || options.manager !== clientSideManager) return result;
  if (result.kind === 'applied')
    return { ...result, object: recordLastApplied(live, result.object, config, annotation) };

  const allowed = new Set(formatPaths(allowedConflicts(type, live, annotation)));
  const conflicts = result.conflicts.filter((conflict) => !allowed.has(conflict.path));
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts };
  return applyPatch(type, live, config, { ...options, force: true });
}

function applyChecked(
  type: KindType,
  live: ApiObject | undefined,
  applied: JsonObject,
  options: ApplyPatchOptions,
): ApplyResult {
  const view = rootView(type);
  const applier: ManagerIdentity = {
    manager: options.manager === '' ? 'unknown' : options.manager,
    operation: 'Apply',
    apiVersion: options.apiVersion,
    subresource: options.subresource ?? '',
  };
  const owners = startingOwners(type, live, options).map((owner) =>
    owner.apiVersion === options.apiVersion ? withFitting(view, owner) : owner,
  );
  const previous = owners.find((owner) => sameOwner(owner, applier));
  const others = owners.filter((owner) => owner !== previous);
  const claims = ownable(claimedPaths(view, applied), options);

  const merged = mergeObjects(view, live ?? {}, applied);
  const before = previous !== undefined && hasKnownNames(previous, options) ? previous.fields : emptySet;
  const dropped = droppedPaths(view, before, [claims, ...others.map((owner) => owner.fields)]);
  const object = (removePaths(view, merged, dropped) ?? {}) as ApiObject;

  const comparison = compareTracked(type, live, object, options);
  const seenIn = comparisonsByVersion(live, object, comparison, options);
  const conflicts = options.force ? [] : findConflicts(others, seenIn);
  const isOwned = owners.some(({ fields }) => !isEmptySet(intersection(fields, claims)));
  if (options.unowned !== undefined && !options.force && !isOwned && !isEmptySet(comparison.changed)) {
    conflicts.push({ ...options.unowned, manager: firstManager, operation: 'Update' });
  }
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts };

  const after: OwnerEntry[] = [];
  for (const owner of others) {
    const seen = seenIn(owner.apiVersion);
    if (seen !== undefined) after.push(withFields(owner, withoutDifferences(owner.fields, seen)));
  }
  const unchanged = live !== undefined && isEmptySet(comparison.changed) && isEmptySet(comparison.removed);
  if (previous !== undefined && unchanged && equalSets(previous.fields, claims)) after.push(previous);
  else {
    // As programs know it, the time is that of the last apply that changed a value.
    const time = unchanged ? previous?.time : options.time;
    after.push({ ...applier, fields: claims, time, stored: undefined });
  }
  return { kind: 'applied', object: withManagedFields(object, after) };
}

/** The owners of the live object. All fields of an untracked object belong to one special manager. */
function startingOwners(
  type: KindType,
  live: ApiObject | undefined,
  options: ApplyPatchOptions,
): readonly OwnerEntry[] {
  if (live === undefined) return [];
  const owners = ownersBefore(live.metadata.managedFields, undefined);
  if (owners.length > 0 || options.unowned !== undefined) return owners;
  const everything = compareTracked(type, undefined, live);
  return ownersAfterUpdate([], undefined, live, everything, { ...options, manager: firstManager, subresource: '' });
}

function withFitting(view: StructView, owner: OwnerEntry): OwnerEntry {
  const fields = fitToType(view, owner.fields);
  return equalSets(fields, owner.fields) ? owner : withFields(owner, fields);
}

/** Whether the fields of an entry can be found in the object: its version, or the renaming of its fields, is known. */
function hasKnownNames({ apiVersion }: OwnerEntry, { apiVersion: applied, versions }: ApplyPatchOptions): boolean {
  return apiVersion === applied || versions === undefined || versions(apiVersion) !== undefined;
}

/**
 * The paths to remove: the applier no longer claims them, and nobody else owns them or anything below them. Sets of
 * other versions are compared by name: at worst, a field without an owner stays.
 */
function droppedPaths(view: StructView, before: FieldSet, owned: readonly FieldSet[]): FieldSet {
  if (isEmptySet(before)) return emptySet;
  let kept = emptySet;
  for (const fields of owned) kept = union(kept, fields);
  const gone = difference(withFieldsOnTheWay(view, before), withFieldsOnTheWay(view, kept));
  return difference(gone, lasting);
}

/**
 * Metadata itself and the fields that the server sets: they are never removed, even if an applier claimed to own them.
 */
const lasting: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': { '.': {}, ...Object.fromEntries(serverFields.map((name) => [`f:${name}`, {}])) },
};

function findConflicts(
  others: readonly OwnerEntry[],
  seenIn: (apiVersion: string) => Comparison | undefined,
): FieldConflict[] {
  const conflicts: FieldConflict[] = [];
  for (const { manager, operation, apiVersion, subresource, fields } of others) {
    const contested = intersection(fields, seenIn(apiVersion)?.changed ?? emptySet);
    for (const path of formatPaths(contested)) {
      conflicts.push({ manager, operation, apiVersion, subresource, path });
    }
  }
  return conflicts;
}

function withManagedFields(object: ApiObject, owners: readonly OwnerEntry[]): ApiObject {
  const metadata = { ...(isObject(object.metadata) ? object.metadata : {}) };
  const entries = encodeOwners(owners);
  if (entries.length === 0) delete metadata.managedFields;
  else metadata.managedFields = entries;
  return { ...object, metadata };
}
