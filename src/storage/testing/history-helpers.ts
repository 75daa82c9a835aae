import type { PostgresStorage } from '../postgres/postgres-storage.js';
import { sqlView } from '../postgres/sql-view-text.js';
import type { StorageKey } from '../storage-key.js';
import { put } from './storage-contract.js';

export const HOUR_MS = 3_600_000;

/** A view of a test resource, named after it. */
export const view = (resource: string, name = resource.split('.')[0] ?? resource) =>
  sqlView({ name, storageResource: resource, namespaced: true, comment: 'Test.', fields: [] });
export const key = (name: string, resource = 'things', namespace = 'default'): StorageKey => ({
  resource,
  namespace,
  name,
});
/** The JSON of an object with this spec, as a manager wrote it. */
export const text = (value: unknown, manager = 'test') =>
  JSON.stringify({
    kind: 'Thing',
    metadata: { labels: { app: 'web' }, managedFields: [{ manager, operation: 'Update', time: String(value) }] },
    spec: value,
  });

export async function update(storage: PostgresStorage, name: string, value: unknown, resource = 'things') {
  const { object } = await put(storage, key(name, resource), text(value));
  return object;
}
