import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { storageVersionResource } from './storage-version/storage-version.resource.js';

/** Resources of the group `internal.apiserver`. */
export function internalResources(names: VendorNames): ResourceDefinition[] {
  return [storageVersionResource(names)];
}

/** The API group `internal`. */
@Module({})
export class InternalApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(InternalApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: internalResources,
    });
  }
}
