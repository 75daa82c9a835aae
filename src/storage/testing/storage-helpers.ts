import assert from 'node:assert/strict';
import type { Change, ChangeSubscription, Storage, StoredObject, UpdateResult } from '../storage.interface.js';
import { StorageError, type StorageErrorCode } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';

/** For `assert.rejects`: a StorageError with the code. */
export function failsWith(code: StorageErrorCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StorageError, `not a StorageError: ${String(error)}`);
    assert.equal(error.code, code);
    return true;
  };
}

/** Overwrites the object in any state. */
export function put(storage: Storage, key: StorageKey, json: string): Promise<UpdateResult> {
  return storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'write', json, uid: current?.uid ?? '' }));
}

/** Deletes the object and logs its last state. */
export function remove(storage: Storage, key: StorageKey): Promise<UpdateResult> {
  return storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' }));
}

/** Reads a subscription until it is complete up to `version`. */
export async function collectUpTo(subscription: ChangeSubscription, version: bigint): Promise<Change[]> {
  const changes: Change[] = [];
  for (;;) {
    const batch = await subscription.next();
    if (batch === undefined) return changes;
    changes.push(...batch.changes);
    if (batch.position >= version) return changes;
  }
}

/** Namespace and name of each object. */
export function names(items: readonly StoredObject[]): string[] {
  return items.map((item) => `${item.key.namespace}/${item.key.name}`);
}
