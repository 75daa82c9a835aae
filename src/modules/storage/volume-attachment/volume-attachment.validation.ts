import { isDeepStrictEqual } from 'node:util';
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
} from '../../../apis/storage/v1/volume-attachment.types.js';
import { type FieldError, FieldPath, forbidden, invalid, required, tooLong } from '../../../machinery/field-error.js';
import { isDns1123Subdomain } from '../../../machinery/names.js';
import { validateCsiDriverName } from '../csi-driver/csi-driver-name.validation.js';

const specPath = FieldPath.of('spec');
const sourcePath = specPath.child('source');
const statusPath = FieldPath.of('status');
const maxMetadataBytes = 256 * 1024;
const maxErrorBytes = 1024;

/** Broken rules of a new VolumeAttachment. */
export function validateVolumeAttachment({ spec }: VolumeAttachment): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.attacher === '') errors.push(required(specPath.child('attacher')));
  validateSource(spec.source, errors);
  for (const m of isDns1123Subdomain(spec.nodeName)) errors.push(invalid(specPath.child('nodeName'), spec.nodeName, m));
  errors.push(...validateCsiDriverName(spec.attacher, specPath.child('attacher')));
  const { persistentVolumeName } = spec.source;
  if (persistentVolumeName !== undefined) {
    for (const m of isDns1123Subdomain(persistentVolumeName)) {
      errors.push(invalid(sourcePath.child('persistentVolumeName'), persistentVolumeName, m));
    }
  }
  return errors;
}

/** Broken rules of a changed VolumeAttachment: its spec never changes. */
export function validateVolumeAttachmentUpdate(object: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  const errors = validateVolumeAttachmentStatus(object.status);
  if (!isDeepStrictEqual(object.spec, old.spec)) errors.push(invalid(specPath, object.spec, 'field is immutable'));
  return errors;
}

/** Broken rules of the status an attacher writes. */
export function validateVolumeAttachmentStatus(status: VolumeAttachmentStatus): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(status.attachmentMetadata ?? {})) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  const metadataPath = statusPath.child('attachmentMetadata');
  if (bytes > maxMetadataBytes) errors.push(tooLong(metadataPath, maxMetadataBytes));
  for (const field of ['attachError', 'detachError'] as const) {
    const message = status[field]?.message;
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
  } else if (persistentVolumeName === '') {
    errors.push(required(sourcePath.child('persistentVolumeName'), 'must specify non empty persistentVolumeName'));
  }
}
