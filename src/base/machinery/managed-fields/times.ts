import type { ApiObject, ManagedFieldsEntry } from '../api-object.js';
import { deepEqual } from '../patch/json-value.js';

/**
 * The managedFields to store: those of the live object if the final new object differs from it only in the times of
 * entries. A write that was undone by defaults or by the kind's rules thus has no effect.
 */
export function withoutTimeChanges(live: ApiObject, next: ApiObject): ManagedFieldsEntry[] | undefined {
  const before = live.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (before === undefined || after === undefined || before === after || before.length !== after.length) return after;
  if (deepEqual(before, after)) return before;
  return deepEqual(timeless(live), timeless(next)) ? before : after;
}

/** Leaves out resource versions too: the store compares those. */
function timeless(object: ApiObject): unknown {
  const { resourceVersion: _version, managedFields, ...metadata } = object.metadata;
  const entries = (managedFields ?? []).map(({ time: _time, ...entry }) => entry).sort(byOwner);
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}

function byOwner(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const key = (e: ManagedFieldsEntry) => `${e.operation}\n${e.manager}\n${e.apiVersion}\n${e.subresource ?? ''}`;
  return key(a) < key(b) ? -1 : 1;
}
