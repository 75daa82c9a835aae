import type { ApiObject } from '../../../base/machinery/api-object.js';
import { serverContext } from '../../../base/machinery/internal-context.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import { type AuthorityData, authorityMapName, mergeAuthorities } from './authority-data.js';

const admitted = () => Promise.resolve();
/** Other processes may create or delete the ConfigMap between our read and our write. */
const maxAttempts = 5;

/**
 * Merges this process's client CA certificates into the ConfigMap `extension-apiserver-authentication` of the system
 * namespace, where extension servers read how to authenticate. Writes nothing when the data is already complete. Many
 * processes may do so at once. If the ConfigMap can't be written (it may be immutable), a warning is logged and this
 * server starts anyway.
 */
export async function publishClientAuthorities(
  names: VendorNames,
  stores: ResourceStores,
  own: AuthorityData,
  logger: { warn(text: string, fields?: object): void },
): Promise<void> {
  if (Object.keys(own).length === 0) return;
  try {
    await publish(names, stores, own);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    logger.warn('the authorities of clients cannot be published for extension servers', { problem: error.message });
  }
}

async function publish(names: VendorNames, stores: ResourceStores, own: AuthorityData): Promise<void> {
  const { clock, storage } = stores;
  const store = stores.owning('', 'configmaps', names.fieldManagers.server);
  const { resource } = store;
  const request = serverContext(clock.now());
  const namespace = names.systemNamespace;
  const now = clock.now();
  const fresh = () => {
    const body = { metadata: { name: authorityMapName, namespace }, data: mergeAuthorities({}, own, now) };
    return decode(resource.served.type, body).value as ApiObject;
  };
  for (let attempt = 1; ; attempt++) {
    try {
      if (
        (await storage.get({ resource: resource.storageResource, namespace, name: authorityMapName })) === undefined
      ) {
        await store.create(request, fresh(), { dryRun: false, validate: admitted });
        return;
      }
      await store.update(request, namespace, authorityMapName, {
        dryRun: false,
        validate: admitted,
        transform: (live) => {
          if (live === undefined) return fresh();
          const data = (live as ApiObject & Pick<ConfigMap, 'data'>).data ?? {};
          const merged = mergeAuthorities(data as AuthorityData, own, now);
          return deepEqual(data, merged) ? live : ({ ...live, data: merged } as ApiObject);
        },
      });
      return;
    } catch (error) {
      const isRace = error instanceof StatusError && ['AlreadyExists', 'NotFound', 'Conflict'].includes(error.reason);
      if (!isRace || attempt === maxAttempts) throw error;
    }
  }
}
