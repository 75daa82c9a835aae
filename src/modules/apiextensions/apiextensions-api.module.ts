import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { customResourceDefinitionResource } from './custom-resource-definition/custom-resource-definition.resource.js';

/** Resources of the group `apiextensions`. */
export function apiExtensionsResources(names: VendorNames, clock: Clock): ResourceDefinition[] {
  return [customResourceDefinitionResource(names, clock)];
}

/** The API group `apiextensions`. */
@Module({})
export class ApiExtensionsApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(ApiExtensionsApiModule, host, {
      inject: [VENDOR_NAMES, CLOCK],
      useFactory: apiExtensionsResources,
    });
  }
}
