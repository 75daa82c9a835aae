import type { ManagedFieldsEntry } from '../api-object.js';
import { compareText } from '../compare-text.js';
import { emptySet, type FieldSet, isEmptySet, parseFieldSet, union } from '../field-set/index.js';
import { deepEqual } from '../patch/json-value.js';

export type FieldOperation = 'Apply' | 'Update';

/** A usable entry of managedFields. */
export interface OwnerEntry {
  readonly manager: string;
  readonly operation: FieldOperation;
  /** The version whose field names the set uses. */
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The original entry, as long as it is unchanged: it is then written back as it was. */
  readonly stored: ManagedFieldsEntry | undefined;
}

export type Entries = readonly ManagedFieldsEntry[] | undefined;

/** Whether the entries are `managedFields: [{}]`, the request to forget all owners. */
export function isReset(entries: Entries): boolean {
  return entries?.length === 1 && isEmptyEntry(entries[0] as ManagedFieldsEntry);
}

function isEmptyEntry(entry: ManagedFieldsEntry): boolean {
  return Object.values(entry).every((value) => value === undefined || value === '' || value === null);
}

/**
 * The owners before a write: those that the client sent, if it changed them in a valid way, otherwise those of the live
 * object. Clients that don't know managedFields or send invalid ones lose nothing.
 */
export function ownersBefore(live: Entries, sent: Entries): OwnerEntry[] {
  if (isReset(sent)) return [];
  if (sent !== undefined && sent.length > 0 && sent !== live && !deepEqual(sent, live)) {
    const parsed = parseSent(sent);
    if (parsed !== undefined && parsed.length > 0) return parsed;
  }
  return (live ?? []).map(trusted);
}

/** Reads an entry from the store without checks: its set was checked when it was written. */
function trusted(entry: ManagedFieldsEntry): OwnerEntry {
  return {
    manager: entry.manager ?? '',
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: entry.apiVersion ?? '',
    subresource: entry.subresource ?? '',
    time: entry.time ?? undefined,
    fields: (entry.fieldsV1 ?? emptySet) as FieldSet,
    stored: entry,
  };
}

function parseSent(sent: readonly ManagedFieldsEntry[]): OwnerEntry[] | undefined {
  const owners = new Map<string, { readonly owner: OwnerEntry; readonly sets: FieldSet[] }>();
  for (const entry of sent) {
    const fields = parseFieldSet(entry.fieldsV1 ?? {});
    const { operation, apiVersion } = entry;
    if (fields === undefined || (operation !== 'Apply' && operation !== 'Update')) return undefined;
    if (!apiVersion || entry.fieldsType !== 'FieldsV1') return undefined;
    const owner = { ...trusted(entry), fields, stored: undefined };
    // The last entry of an owner is kept, with the fields of all its entries.
    const key = ownerKey(owner);
    const sets = owners.get(key)?.sets ?? [];
    sets.push(fields);
    owners.set(key, { owner, sets });
  }
  return [...owners.values()].map(({ owner, sets }) => ({ ...owner, fields: unionOf(sets) }));
}

/** Two entries have the same key exactly if they have the same owner, see {@link sameOwner}. */
function ownerKey({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  return JSON.stringify([manager, operation, subresource, operation === 'Apply' ? '' : apiVersion]);
}

/** The union of all sets. Unites small sets first: adding one at a time would copy the growing result each time. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  let level = sets;
  while (level.length > 1) {
    const united: FieldSet[] = [];
    for (let i = 0; i < level.length; i += 2) united.push(union(level[i] as FieldSet, level[i + 1] ?? emptySet));
    level = united;
  }
  return level[0] ?? emptySet;
}

export type ManagerIdentity = Pick<OwnerEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** Whether two entries have the same owner. An applier is the same owner in every version. */
export function sameOwner(a: ManagerIdentity, b: ManagerIdentity): boolean {
  if (a.manager !== b.manager || a.operation !== b.operation || a.subresource !== b.subresource) return false;
  return a.operation === 'Apply' || a.apiVersion === b.apiVersion;
}

/** The owner with other fields; the same object if they are unchanged. */
export function withFields(owner: OwnerEntry, fields: FieldSet): OwnerEntry {
  return fields === owner.fields ? owner : { ...owner, fields, stored: undefined };
}

/** The number of updaters that an object records individually. */
const maxUpdaters = 10;
const ancientManager = 'ancient-changes';

/**
 * Entries in stored form: without owners that own nothing, with at most ten updaters, in the order that clients expect.
 */
export function encodeOwners(owners: readonly OwnerEntry[]): ManagedFieldsEntry[] {
  const owning = capUpdaters(owners.filter((owner) => !isEmptySet(owner.fields)));
  return owning.sort(compareOwners).map(encodeOwner);
}

function encodeOwner(owner: OwnerEntry): ManagedFieldsEntry {
  if (owner.stored !== undefined) return owner.stored;
  const entry: ManagedFieldsEntry = {
    manager: owner.manager,
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    ...(owner.time === undefined ? {} : { time: owner.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: owner.fields,
  };
  if (owner.subresource !== '') entry.subresource = owner.subresource;
  return entry;
}

function compareOwners(a: OwnerEntry, b: OwnerEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** Merges the oldest updaters of a version into one entry, until at most ten are left or nothing can be merged. */
function capUpdaters(owners: OwnerEntry[]): OwnerEntry[] {
  const updaters = owners.filter((owner) => owner.operation === 'Update').sort(compareOwners);
  let excess = updaters.length - maxUpdaters;
  if (excess <= 0) return owners;
  const gone = new Set<OwnerEntry>();
  const buckets = new Map<string, { readonly owner: OwnerEntry; readonly sets: FieldSet[] }>();
  for (const owner of updaters) {
    if (excess <= 0) break;
    const { apiVersion } = owner;
    const bucket = buckets.get(apiVersion);
    gone.add(owner);
    if (bucket === undefined) {
      // The only entry of its version stays unchanged.
      buckets.set(apiVersion, { owner, sets: [owner.fields] });
      continue;
    }
    bucket.sets.push(owner.fields);
    const merged = { ...bucket.owner, manager: ancientManager, subresource: '', time: owner.time, stored: undefined };
    buckets.set(apiVersion, { owner: merged, sets: bucket.sets });
    excess--;
  }
  const merged = [...buckets.values()].map(({ owner, sets }) =>
    sets.length === 1 ? owner : { ...owner, fields: unionOf(sets) },
  );
  return [...owners.filter((owner) => !gone.has(owner)), ...merged];
}
