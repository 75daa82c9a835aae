import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { evictionResource } from './eviction/eviction.resource.js';
import { evictionRequestResource } from './eviction-request/eviction-request.resource.js';

/** Resources of the group `lifecycle`, which the feature gate `EvictionRequestAPI` enables. */
export function lifecycleResources(names: VendorNames): ResourceDefinition[] {
  return [evictionResource(names), evictionRequestResource(names)];
}

/** The API group `lifecycle`. */
@Module({})
export class LifecycleApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(LifecycleApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: lifecycleResources,
    });
  }
}
