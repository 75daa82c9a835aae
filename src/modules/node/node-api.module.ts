import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { runtimeClassResource } from './runtime-class/runtime-class.resource.js';

/** Resources of the group `node`. */
export function nodeResources(names: VendorNames): ResourceDefinition[] {
  return [runtimeClassResource(names)];
}

/** The API group `node`. */
@Module({})
export class NodeApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(NodeApiModule, host, { inject: [VENDOR_NAMES], useFactory: nodeResources });
  }
}
