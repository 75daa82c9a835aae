import type { ApiObject, ManagedFieldsEntry } from '../api-object.js';
import { deepEqual } from '../patch/json-value.js';

/**
 * The managedFields to store: those of the live object when the new object, in its final form, differs from it in nothing
 * but the times of entries. So a write that was undone by defaults or by the kind's rules stays a write of nothing.
 */
export function withoutTimeChanges(live: ApiObject, next: ApiObject): ManagedFieldsEntry[] | undefined {
  const before = live.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (before === undefined || after === undefined || before === after || before.length !== after.length) return after;
  if (deepEqual(before, after)) return before;
  return deepEqual(timeless(live), timeless(next)) ? before : after;
}

/** Versions are the store's to compare. */
function timeless(object: ApiObject): unknown {
  const { resourceVersion: _version, managedFields, ...metadata } = object.metadata;
  const entries = (managedFields ?? []).map(({ time: _time, ...entry }) => entry).sort(byOwner);
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}

function byOwner(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const key = (e: ManagedFieldsEntry) => `${e.operation}\n${e.manager}\n${e.apiVersion}\n${e.subresource ?? ''}`;
  return key(a) < key(b) ? -1 : 1;
}
