import { type DynamicModule, Module } from '@nestjs/common';
import { AUTHORIZER, type Authorizer } from '../../base/machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { StorageReader } from '../../objects/registry/store/storage-reader.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { deviceClassResource } from './device-class/device-class.resource.js';
import { deviceTaintRuleResource } from './device-taint-rule/device-taint-rule.resource.js';
import { resourceClaimResource } from './resource-claim/resource-claim.resource.js';
import { resourceClaimTemplateResource } from './resource-claim-template/resource-claim-template.resource.js';
import { resourcePoolStatusRequestResource } from './resource-pool-status-request/resource-pool-status-request.resource.js';
import { resourceSliceResource } from './resource-slice/resource-slice.resource.js';

/** Resources of the group `resource`: devices, and claims to them. */
export function resourceResources(
  names: VendorNames,
  authorizer: Authorizer,
  { registry, storage, clock }: ResourceStores,
): ResourceDefinition[] {
  const context = { names, authorizer, objects: new StorageReader(storage, registry) };
  return [
    deviceClassResource(names),
    deviceTaintRuleResource(names, clock),
    resourceClaimResource(context),
    resourceClaimTemplateResource(context),
    resourcePoolStatusRequestResource(names),
    resourceSliceResource(names, clock),
  ];
}

/** The API group `resource`. */
@Module({})
export class ResourceApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(ResourceApiModule, host, {
      inject: [VENDOR_NAMES, AUTHORIZER, ResourceStores],
      useFactory: resourceResources,
    });
  }
}
