import type { ApiObject } from '../../base/machinery/api-object.js';
import { serverContext } from '../../base/machinery/internal-context.js';
import { dayOf, startOfDay, trackedSinceKey, trackingMapName } from '../../base/machinery/legacy-tokens.js';
import { decode } from '../../base/machinery/schema/index.js';
import { StatusError } from '../../base/machinery/status-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';

type StoredMap = ApiObject & { readonly data?: Readonly<Record<string, string>> };

const admitted = () => Promise.resolve();
const races: ReadonlySet<string> = new Set(['AlreadyExists', 'NotFound', 'Conflict']);

/**
 * Creates the ConfigMap with the day since which the servers record uses of tokens in secrets, or replaces an
 * unreadable day. Many processes may do so at once.
 *
 * @throws StatusError of the storage
 */
export async function ensureTokenTracking(names: VendorNames, stores: ResourceStores): Promise<void> {
  const { clock, storage } = stores;
  const store = stores.owning('', 'configmaps', names.fieldManagers.server);
  const { resource } = store;
  const namespace = names.systemNamespace;
  const request = serverContext(clock.now());
  const data = { [trackedSinceKey]: dayOf(clock.now()) };
  const found = await storage.get({ resource: resource.storageResource, namespace, name: trackingMapName });
  const isRight = (map: StoredMap) => startOfDay(map.data?.[trackedSinceKey]) !== undefined;
  if (found !== undefined && isRight(parseStored(resource, found))) return;
  try {
    if (found === undefined) {
      const body = { metadata: { name: trackingMapName, namespace }, data };
      const fresh = decode(resource.served.type, body).value as ApiObject;
      await store.create(request, fresh, { dryRun: false, validate: admitted });
      return;
    }
    await store.update(request, namespace, trackingMapName, {
      dryRun: false,
      validate: admitted,
      transform: (live) => {
        const map = live as StoredMap | undefined;
        return map === undefined || isRight(map)
          ? (live as ApiObject)
          : ({ ...map, data: { ...map.data, ...data } } as ApiObject);
      },
    });
  } catch (error) {
    // Another process was faster, or somebody made the ConfigMap immutable.
    if (!(error instanceof StatusError) || !(races.has(error.reason) || error.reason === 'Invalid')) throw error;
  }
}
