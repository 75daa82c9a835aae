import { isDeepStrictEqual } from 'node:util';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooLongText,
} from '../../../base/machinery/field-error.js';
import { isAnyCaseDns1123Subdomain, isDns1123Subdomain } from '../../../base/machinery/names.js';
import { persistentVolumeSource } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { validateCsiDriverName } from '../../../objects/apis/storage/v1/validation/csi-driver-name.validation.js';
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
} from '../../../objects/apis/storage/v1/volume-attachment.types.js';

const specPath = FieldPath.of('spec');
const sourcePath = specPath.child('source');
const statusPath = FieldPath.of('status');
const maxMetadataBytes = 256 * 1024;
const maxErrorBytes = 1024;
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Validates a new VolumeAttachment. */
export function validateVolumeAttachment({ spec }: VolumeAttachment): FieldError[] {
  const errors: FieldError[] = [];
  validateSource(spec.source, errors);
  for (const m of isDns1123Subdomain(spec.nodeName)) errors.push(invalid(specPath.child('nodeName'), spec.nodeName, m));
  if (spec.attacher !== '') validateAttacher(spec.attacher, specPath.child('attacher'), errors);
  const { persistentVolumeName } = spec.source;
  if (persistentVolumeName !== undefined) {
    for (const m of isDns1123Subdomain(persistentVolumeName)) {
      errors.push(invalid(sourcePath.child('persistentVolumeName'), persistentVolumeName, m));
    }
  }
  if (spec.attacher === '') errors.push(required(specPath.child('attacher')));
  return errors;
}

const maxAttacherLength = 63;

function validateAttacher(attacher: string, path: FieldPath, errors: FieldError[]): void {
  for (const message of isAnyCaseDns1123Subdomain(attacher)) errors.push(invalid(path, attacher, message));
  if (attacher.length > maxAttacherLength) errors.push(tooLongText(path, maxAttacherLength));
}

/** Validates a changed VolumeAttachment: its spec never changes. */
export function validateVolumeAttachmentUpdate(object: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  const errors = [...validateVolumeAttachment(object), ...validateVolumeAttachmentStatus(object.status)];
  if (!isDeepStrictEqual(object.spec, old.spec)) errors.push(invalid(specPath, null, 'field is immutable'));
  return errors;
}

/** Validates the status that an attacher writes. */
export function validateVolumeAttachmentStatus(status: VolumeAttachmentStatus): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(status.attachmentMetadata ?? {})) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  const metadataPath = statusPath.child('attachmentMetadata');
  if (bytes > maxMetadataBytes) errors.push(tooLong(metadataPath, maxMetadataBytes));
  for (const field of ['attachError', 'detachError'] as const) {
    const { message, errorCode = 0 } = status[field] ?? {};
    if (errorCode < 0) {
      const path = statusPath.child(field).child('errorCode');
      errors.push(invalid(path, errorCode, 'must be between 0 and 2147483647, inclusive'));
    }
    if (message !== undefined && Buffer.byteLength(message) > maxErrorBytes) {
      errors.push(tooLong(statusPath.child(field).child('message'), maxErrorBytes));
    }
  }
  return errors;
}

function validateSource(source: VolumeAttachmentSource, errors: FieldError[]): void {
  const { persistentVolumeName, inlineVolumeSpec } = source;
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined) {
    errors.push(required(sourcePath, exactlyOne));
  } else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) {
    errors.push(forbidden(sourcePath, exactlyOne));
  } else if (inlineVolumeSpec !== undefined) {
    validateInline(inlineVolumeSpec, errors);
  } else if (persistentVolumeName === '') {
    errors.push(required(sourcePath.child('persistentVolumeName'), 'must specify non empty persistentVolumeName'));
  }
}

type InlineSpec = NonNullable<VolumeAttachmentSource['inlineVolumeSpec']>;

const notInline = [
  'claimRef',
  'capacity',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
] as const;

/**
 * Validates a volume that is defined in a pod. It has no claim, class or capacity: only its CSI source and access modes
 * count.
 */
function validateInline(spec: InlineSpec, errors: FieldError[]): void {
  const path = sourcePath.child('inlineVolumeSpec');
  for (const field of notInline) {
    if (spec[field] !== undefined) {
      errors.push(forbidden(path.child(field), 'may not be specified in the context of inline volumes'));
    }
  }
  if (!persistentVolumeSource.fields.some(({ name }) => name in spec)) {
    errors.push(required(path, 'must specify a volume type'));
  }
  if (spec.csi === undefined) {
    errors.push(required(path.child('csi'), 'has to be specified in the context of inline volumes'));
  } else {
    errors.push(...validateCsiDriverName(spec.csi.driver, path.child('csi').child('driver')));
    if (spec.csi.volumeHandle === '') errors.push(required(path.child('csi').child('volumeHandle')));
  }
  const modesPath = path.child('accessModes');
  if ((spec.accessModes ?? []).length === 0) errors.push(required(modesPath));
  for (const mode of spec.accessModes ?? []) {
    if (!accessModes.includes(mode)) errors.push(notSupported(modesPath, mode, accessModes));
  }
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Filesystem') {
    const detail = 'may not specify volumeMode other than Filesystem in the context of inline volumes';
    errors.push(forbidden(path.child('volumeMode'), detail));
  }
}
