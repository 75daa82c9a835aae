import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { flowSchemaResource } from './flow-schema/flow-schema.resource.js';
import { priorityLevelConfigurationResource } from './priority-level-configuration/priority-level-configuration.resource.js';

/** Resources of the group `flowcontrol.apiserver`. */
export function flowControlResources(names: VendorNames): ResourceDefinition[] {
  return [flowSchemaResource(names), priorityLevelConfigurationResource(names)];
}

/** The API group `flowcontrol`. */
@Module({})
export class FlowControlApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(FlowControlApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: flowControlResources,
    });
  }
}
