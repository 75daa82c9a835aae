import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { apiServiceResource } from './api-service/api-service.resource.js';

/** Resources of the group `apiregistration`. */
export function apiregistrationResources(names: VendorNames, clock: Clock): ResourceDefinition[] {
  return [apiServiceResource(names, clock)];
}

/** The API group `apiregistration`. */
@Module({})
export class ApiregistrationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(ApiregistrationApiModule, host, {
      inject: [VENDOR_NAMES, CLOCK],
      useFactory: apiregistrationResources,
    });
  }
}
