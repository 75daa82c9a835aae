import {
  always,
  bool,
  type Infer,
  int32,
  kind,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { persistentVolumeSpec } from '../../core/v1/persistent-volume.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const volumeAttachmentSource = struct('storage.v1.VolumeAttachmentSource', {
  persistentVolumeName: pointer(1, string),
  inlineVolumeSpec: pointer(2, persistentVolumeSpec),
});
export type VolumeAttachmentSource = Infer<typeof volumeAttachmentSource>;

export const volumeAttachmentSpec = struct('storage.v1.VolumeAttachmentSpec', {
  attacher: required(1, string, { doc: 'Driver that does it.' }),
  source: required(2, volumeAttachmentSource, { doc: 'The volume.' }),
  nodeName: required(3, string, { doc: 'The node.' }),
});
export type VolumeAttachmentSpec = Infer<typeof volumeAttachmentSpec>;

export const volumeError = struct('storage.v1.VolumeError', {
  time: always(1, time),
  message: optional(2, string),
  errorCode: pointer(3, int32),
});
export type VolumeError = Infer<typeof volumeError>;

export const volumeAttachmentStatus = struct('storage.v1.VolumeAttachmentStatus', {
  attached: required(1, bool, { doc: 'Whether it is attached.' }),
  attachmentMetadata: optional(2, map(string), { doc: 'What the driver says about it.' }),
  attachError: pointer(3, volumeError, { doc: 'Why attaching failed last.' }),
  detachError: pointer(4, volumeError, { doc: 'Why detaching failed last.' }),
});
export type VolumeAttachmentStatus = Infer<typeof volumeAttachmentStatus>;

export const volumeAttachment = kind(
  { group: 'storage', version: 'v1', kind: 'VolumeAttachment', scope: 'Cluster' },
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
