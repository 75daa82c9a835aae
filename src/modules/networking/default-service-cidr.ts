import type { GroupResource } from '../../base/machinery/group-version.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { ServiceCIDR } from '../../objects/apis/networking/v1/service-cidr.types.js';
import type { ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import { deleteOwn, ensureObject } from '../../objects/registry/store/ensure-object.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { serviceRange } from './service-cidr/service-cidr.resource.js';

const name = 'kubernetes';

/** Makes the object of the range that services get their addresses from, unless there is one. Safe for many processes at once. */
export function ensureDefaultServiceCidr(
  names: VendorNames,
  stores: ResourceStores,
  ranges: ServiceRanges,
): Promise<void> {
  return ensureObject(stores, placeOf(names), { metadata: { name }, spec: { cidrs: [serviceRange(ranges)] } });
}

/** Replaces the object of a former range by that of the present one. Safe for many processes that start at once. */
export async function replaceFormerServiceCidr(
  names: VendorNames,
  stores: ResourceStores,
  ranges: ServiceRanges,
): Promise<void> {
  const place = placeOf(names);
  const { resource } = stores.named(place.group, place.resource);
  const stored = await stores.storage.get({ resource: resource.storageResource, namespace: '', name });
  if (stored === undefined) return;
  const { spec } = parseStored(resource, stored) as ServiceCIDR;
  // An object that a client extended, or that shows an older range: neither describes the range in use.
  if (spec.cidrs?.length === 1 && spec.cidrs[0] === serviceRange(ranges)) return;
  await deleteOwn(stores, place, { name }, stored.uid);
  await ensureDefaultServiceCidr(names, stores, ranges);
}

function placeOf(names: VendorNames): GroupResource {
  return { group: groupName('networking', names), resource: 'servicecidrs' };
}
