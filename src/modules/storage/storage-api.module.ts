import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { csiDriverResource } from './csi-driver/csi-driver.resource.js';
import { csiNodeResource } from './csi-node/csi-node.resource.js';
import { csiStorageCapacityResource } from './csi-storage-capacity/csi-storage-capacity.resource.js';
import { storageClassResource } from './storage-class/storage-class.resource.js';
import { volumeAttachmentResource } from './volume-attachment/volume-attachment.resource.js';
import { volumeAttributesClassResource } from './volume-attributes-class/volume-attributes-class.resource.js';

/** Resources of the group `storage`. */
export function storageResources(names: VendorNames): ResourceDefinition[] {
  return [
    storageClassResource(names),
    volumeAttachmentResource(names),
    csiDriverResource(names),
    csiNodeResource(names),
    csiStorageCapacityResource(names),
    volumeAttributesClassResource(names),
  ];
}

/** The API group `storage`. */
@Module({})
export class StorageApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(StorageApiModule, host, { inject: [VENDOR_NAMES], useFactory: storageResources });
  }
}
