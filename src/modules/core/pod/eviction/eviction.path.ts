import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import { eviction } from '../../../../objects/apis/policy/v1/eviction.types.js';
import { eviction as evictionV1beta1 } from '../../../../objects/apis/policy/v1beta1/eviction.types.js';
import type { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import type { VirtualSubresource } from '../../../../objects/registry/subresource-definition.js';
import { PodEviction } from './pod-eviction.js';

/** The path that requests the eviction of a pod, as far as budgets allow. */
export function evictionPath(names: VendorNames, stores: ResourceStores): VirtualSubresource {
  const group = groupName('policy', names);
  const pods = new PodEviction(names, stores);
  return {
    type: 'virtual',
    name: 'eviction',
    body: { kind: { group, version: 'v1', kind: 'Eviction' }, type: eviction },
    otherBodies: [{ kind: { group, version: 'v1beta1', kind: 'Eviction' }, type: evictionV1beta1 }],
    otherName: 'name in URL does not match name in Eviction object',
    answersStatus: true,
    perform: (request, action) => pods.evict(request, action),
  };
}
