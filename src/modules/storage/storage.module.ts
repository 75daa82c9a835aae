import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { csiDriverResource } from './csi-driver/csi-driver.resource.js';
import { csiNodeResource } from './csi-node/csi-node.resource.js';
import { csiStorageCapacityResource } from './csi-storage-capacity/csi-storage-capacity.resource.js';
import { storageClassResource } from './storage-class/storage-class.resource.js';
import { volumeAttachmentResource } from './volume-attachment/volume-attachment.resource.js';
import { volumeAttributesClassResource } from './volume-attributes-class/volume-attributes-class.resource.js';

/** Resources of the group `storage`. */
export function storageResources({ names }: GroupContext): ResourceDefinition[] {
  return [
    storageClassResource(names),
    volumeAttachmentResource(names),
    csiDriverResource(names),
    csiNodeResource(names),
    csiStorageCapacityResource(names),
    volumeAttributesClassResource(names),
  ];
}

@Module({})
export class StorageModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of storageResources(context)) context.registry.register(definition);
  }
}
