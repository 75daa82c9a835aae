import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';

/**
 * Writes an object that the server itself made, with a new uid, unless the key is taken. Applies no rules of the kind.
 * Throws a StorageError when storage fails.
 */
export async function createIfFree(storage: Storage, key: StorageKey, object: ApiObject): Promise<void> {
  const uid = randomUUID();
  const json = JSON.stringify({ ...object, metadata: { ...object.metadata, uid } });
  try {
    await storage.create(key, uid, json);
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'KeyExists')) throw error;
  }
}
