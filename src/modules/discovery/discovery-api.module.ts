import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { endpointSliceResource } from './endpoint-slice/endpoint-slice.resource.js';

/** Resources of the group `discovery`. */
export function discoveryResources(names: VendorNames): ResourceDefinition[] {
  return [endpointSliceResource(names)];
}

/** The API group `discovery`. */
@Module({})
export class DiscoveryApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(DiscoveryApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: discoveryResources,
    });
  }
}
