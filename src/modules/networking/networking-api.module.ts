import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { SERVICE_RANGES, type ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { ingressResource } from './ingress/ingress.resource.js';
import { ingressClassResource } from './ingress-class/ingress-class.resource.js';
import { ipAddressResource } from './ip-address/ip-address.resource.js';
import { networkPolicyResource } from './network-policy/network-policy.resource.js';
import { serviceCidrResource } from './service-cidr/service-cidr.resource.js';

/** Resources of the group `networking`. */
export function networkingResources(
  names: VendorNames,
  stores: ResourceStores,
  ranges: ServiceRanges,
): ResourceDefinition[] {
  return [
    ingressResource(names),
    ingressClassResource(names),
    networkPolicyResource(names),
    ipAddressResource(names, stores),
    serviceCidrResource(names, ranges, stores.clock),
  ];
}

/** The API group `networking`. */
@Module({})
export class NetworkingApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(NetworkingApiModule, host, {
      inject: [VENDOR_NAMES, ResourceStores, SERVICE_RANGES],
      useFactory: networkingResources,
    });
  }
}
