import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { storageVersionMigrationResource } from './storage-version-migration/storage-version-migration.resource.js';

/** Resources of the group `storagemigration`. */
export function storageMigrationResources(names: VendorNames): ResourceDefinition[] {
  return [storageVersionMigrationResource(names)];
}

/** The API group `storagemigration`. */
@Module({})
export class StorageMigrationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(StorageMigrationApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: storageMigrationResources,
    });
  }
}
