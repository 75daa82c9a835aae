import { type DynamicModule, Module } from '@nestjs/common';
import { type ServiceAccountTokenIssuer, TOKEN_ISSUER } from '../../base/machinery/tokens.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { SERVICE_RANGES, type ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { bindingResource } from './binding/binding.resource.js';
import { componentStatusResource } from './component-status/component-status.resource.js';
import { configMapResource } from './config-map/config-map.resource.js';
import { endpointsResource } from './endpoints/endpoints.resource.js';
import { limitRangeResource } from './limit-range/limit-range.resource.js';
import { namespaceResource } from './namespace/namespace.resource.js';
import { nodeResource } from './node/node.resource.js';
import { persistentVolumeResource } from './persistent-volume/persistent-volume.resource.js';
import { persistentVolumeClaimResource } from './persistent-volume-claim/persistent-volume-claim.resource.js';
import { resourceQuotaResource } from './resource-quota/resource-quota.resource.js';
import { secretResource } from './secret/secret.resource.js';
import { serviceResource } from './service/service.resource.js';
import { serviceAccountResource } from './service-account/service-account.resource.js';
import { coreWorkloadResources } from './workloads.js';

/** Resources of the core group except events, which belong to two groups. */
export function coreResources(
  names: VendorNames,
  stores: ResourceStores,
  ranges: ServiceRanges,
  issuer: ServiceAccountTokenIssuer | undefined,
): ResourceDefinition[] {
  const { registry, storage, clock } = stores;
  return [
    bindingResource(names, stores),
    componentStatusResource(stores.storage),
    configMapResource(),
    endpointsResource(),
    limitRangeResource(names),
    namespaceResource(names),
    nodeResource(names),
    persistentVolumeResource(names, clock),
    persistentVolumeClaimResource(names),
    resourceQuotaResource(names),
    secretResource(names),
    serviceResource({ names, registry, storage, clock, ranges }),
    serviceAccountResource({ names, clock, registry, storage }, issuer),
    ...coreWorkloadResources(names, stores),
  ];
}

/** The API group `core`. */
@Module({})
export class CoreApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(CoreApiModule, host, {
      inject: [VENDOR_NAMES, ResourceStores, SERVICE_RANGES, TOKEN_ISSUER],
      useFactory: coreResources,
    });
  }
}
