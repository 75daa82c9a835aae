import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Change } from '../../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { readWithoutManagers } from '../store/read-without-managers.js';

const known = new WeakMap<StoredResources, Map<Change, ApiObject | Promise<ApiObject>>>();

/**
 * The object of a change, read once for all callers within one turn of the event loop: several informers in a process
 * follow the same resource, and each of them receives each change at once. It usually has no managedFields. Nobody may
 * change the object. Returns a promise for a large object.
 */
export function objectOf(registry: StoredResources, change: Change): ApiObject | Promise<ApiObject> {
  let recent = known.get(registry);
  if (recent === undefined) {
    recent = new Map();
    known.set(registry, recent);
  }
  let object = recent.get(change);
  if (object === undefined) {
    object = readWithoutManagers(registry, change);
    if (recent.size === 0) setImmediate(() => known.delete(registry));
    recent.set(change, object);
  }
  return object;
}
