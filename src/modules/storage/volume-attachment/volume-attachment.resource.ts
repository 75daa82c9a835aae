import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type VolumeAttachment, volumeAttachment } from '../../../objects/apis/storage/v1/volume-attachment.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import {
  validateVolumeAttachment,
  validateVolumeAttachmentStatus,
  validateVolumeAttachmentUpdate,
} from './volume-attachment.validation.js';

const columns: readonly TableColumn<VolumeAttachment>[] = [
  nameColumn,
  {
    name: 'Attacher',
    type: 'string',
    format: 'name',
    description: 'Driver that attaches the volume.',
    cell: (object) => object.spec.attacher,
  },
  {
    name: 'PV',
    type: 'string',
    description: 'Volume to attach.',
    cell: (object) => object.spec.source.persistentVolumeName ?? '',
  },
  { name: 'Node', type: 'string', description: 'Node to attach it to.', cell: (object) => object.spec.nodeName },
  {
    name: 'Attached',
    type: 'boolean',
    description: 'Whether the volume is attached now.',
    cell: (object) => object.status.attached,
  },
  ageColumn,
];

/** `volumeattachments`: volumes that are, or should be, attached to nodes. */
export function volumeAttachmentResource(names: VendorNames): ResourceDefinition {
  return defineResource<VolumeAttachment>({
    group: groupName('storage', names),
    resource: 'volumeattachments',
    singular: 'volumeattachment',
    kind: 'VolumeAttachment',
    namespaced: false,
    versions: [{ version: 'v1', type: volumeAttachment }],
    strategyOptions: { allowUnconditionalUpdate: false, returnsDeletedObject: true },
    strategy: {
      prepareForCreate: (_context, object) => {
        object.status = { attached: false };
      },
      validate: (_context, object) => validateVolumeAttachment(object),
      validateUpdate: (_context, object, old) => validateVolumeAttachmentUpdate(object, old),
    },
    columns,
    subresources: [
      statusSubresource<VolumeAttachment>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateVolumeAttachmentStatus(status),
      }),
    ],
  });
}
