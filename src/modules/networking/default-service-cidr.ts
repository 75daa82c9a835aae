import type { GroupResource } from '../../base/machinery/group-version.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { ServiceCIDR } from '../../objects/apis/networking/v1/service-cidr.types.js';
import type { ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import { ensureObject } from '../../objects/registry/store/ensure-object.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import type { StoredObject } from '../../storage/storage.interface.js';
import { StorageError } from '../../storage/storage-error.js';
import { defaultCidrs, defaultServiceCidrName as name } from './service-cidr/service-cidr.resource.js';

/** Creates the object for the ranges of the server's flag, unless it exists. Safe for many processes at once. */
export function ensureDefaultServiceCidr(
  names: VendorNames,
  stores: ResourceStores,
  ranges: ServiceRanges,
): Promise<void> {
  const body = { metadata: { name }, spec: { cidrs: defaultCidrs(ranges) } };
  return ensureObject(stores, placeOf(names), body, names.fieldManagers.server);
}

/** Replaces the object of a former range with one for the current range. Safe for many processes that start at once. */
export async function replaceFormerServiceCidr(
  names: VendorNames,
  stores: ResourceStores,
  ranges: ServiceRanges,
): Promise<void> {
  const { group, resource: resourceName } = placeOf(names);
  const { resource } = stores.named(group, resourceName);
  const key = { resource: resource.storageResource, namespace: '', name };
  const stored = await stores.storage.get(key);
  if (stored === undefined) return;
  const { spec } = parseStored(resource, stored) as ServiceCIDR;
  // An object that a client extended or that shows an older range does not describe the range in use.
  if (spec.cidrs?.join() === defaultCidrs(ranges).join()) return;
  await removeAtOnce(stores, stored);
  await ensureDefaultServiceCidr(names, stores, ranges);
}

/**
 * Removes a stored object whatever finalizers it has: an address of a service would keep the object of the former range
 * forever, and the current range could not have one.
 */
async function removeAtOnce({ storage }: ResourceStores, { key, uid }: StoredObject): Promise<void> {
  try {
    await storage.guaranteedUpdate(key, {}, (current) =>
      current?.uid === uid ? { kind: 'delete', json: current.json } : { kind: 'unchanged' },
    );
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
  }
}

function placeOf(names: VendorNames): GroupResource {
  return { group: groupName('networking', names), resource: 'servicecidrs' };
}
