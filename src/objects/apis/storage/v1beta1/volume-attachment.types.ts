import { always, type Infer, kind, required } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { volumeAttachmentSpec, volumeAttachmentStatus } from '../v1/volume-attachment.types.js';

export const volumeAttachment = kind(
  { group: 'storage', version: 'v1beta1', kind: 'VolumeAttachment', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, volumeAttachmentSpec),
    status: always(3, volumeAttachmentStatus),
  },
  { doc: 'Asks to attach a volume to a node.' },
);
export type VolumeAttachment = Infer<typeof volumeAttachment>;

export const volumeAttachmentList = listKind(volumeAttachment);
export type VolumeAttachmentList = Infer<typeof volumeAttachmentList>;
