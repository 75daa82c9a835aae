import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { PersistentVolumeSpec } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { checkNoBacksteps, checkText } from '../../../objects/apis/core/v1/validation/common.validation.js';
import {
  validateDisk,
  validateStorageVolume,
} from '../../../objects/apis/core/v1/validation/storage-volume.validation.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import { validateCsiDriverName } from '../../../objects/apis/storage/v1/validation/csi-driver-name.validation.js';

const specPath = FieldPath.of('spec');

/**
 * Validates the storage that a volume uses. In addition to the rules for a pod's own volumes, secrets must have a
 * namespace.
 */
export function validateSource(
  spec: PersistentVolumeSpec,
  name: keyof PersistentVolumeSpec,
  names: VendorNames,
  errors: FieldError[],
): void {
  const path = specPath.child(name);
  const { gcePersistentDisk: gce, awsElasticBlockStore: ebs } = spec;
  // Messages name this field `persistentDisk`.
  if (name === 'gcePersistentDisk' && gce !== undefined)
    validateDisk(gce.pdName, 'pdName', gce.partition, specPath.child('persistentDisk'), errors);
  if (name === 'awsElasticBlockStore' && ebs !== undefined)
    validateDisk(ebs.volumeID, 'volumeID', ebs.partition, path, errors);
  switch (name) {
    case 'local':
      validateLocal(spec, path, errors);
      return;
    case 'csi':
      validateCsi(spec, path, errors);
      return;
    case 'storageos':
      validateStorageOs(spec, path, errors);
      return;
    default:
      // These sources have the same fields as in a pod, except for the references to secrets.
      validateStorageVolume({ name: '', [name]: spec[name] } as unknown as Volume, path, errors, false);
  }
  validateMore({ [name]: spec[name] }, path, names, errors);
}

function validateMore(
  spec: Partial<PersistentVolumeSpec>,
  path: FieldPath,
  names: VendorNames,
  errors: FieldError[],
): void {
  const { glusterfs, azureFile, cinder, flexVolume } = spec;
  const endpoints = glusterfs?.endpointsNamespace;
  if (endpoints === '') {
    const detail = 'if the endpointnamespace is set, it must be a valid namespace name';
    errors.push(invalid(path.child('endpointsNamespace'), endpoints, detail));
  } else if (endpoints !== undefined) checkText(endpoints, isDns1123Label, path.child('endpointsNamespace'), errors);
  if (azureFile?.secretNamespace === '') errors.push(required(path.child('secretNamespace')));
  if (cinder?.secretRef !== undefined) requireReference(cinder.secretRef, path.child('secretRef'), errors);
  for (const key of Object.keys(flexVolume?.options ?? {})) {
    const domain = key.slice(0, Math.max(0, key.indexOf('/')));
    const reserved = [names.labelPrefix, names.suffix];
    if (reserved.some((own) => domain === own || domain.endsWith(`.${own}`))) {
      const detail = `${names.labelPrefix} and ${names.suffix} namespaces are reserved`;
      errors.push(invalid(path.child('options').key(key), key, detail));
    }
  }
}

function validateLocal({ local, nodeAffinity }: PersistentVolumeSpec, path: FieldPath, errors: FieldError[]): void {
  if (local === undefined) return;
  if (local.path === '') errors.push(required(path.child('path')));
  else checkNoBacksteps(local.path, path.child('path'), errors);
  if (nodeAffinity === undefined) {
    errors.push(required(specPath.child('nodeAffinity'), 'Local volume requires node affinity'));
  }
}

function validateCsi({ csi }: PersistentVolumeSpec, path: FieldPath, errors: FieldError[]): void {
  if (csi === undefined) return;
  errors.push(...validateCsiDriverName(csi.driver, path.child('driver')));
  if (csi.volumeHandle === '') errors.push(required(path.child('volumeHandle')));
  const references = [
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodePublishSecretRef',
    'nodeExpandSecretRef',
  ] as const;
  for (const field of references) {
    const reference = csi[field];
    if (reference !== undefined) validateSecretReference(reference, path.child(field), errors);
  }
}

function validateStorageOs({ storageos }: PersistentVolumeSpec, path: FieldPath, errors: FieldError[]): void {
  if (storageos === undefined) return;
  const { volumeName, volumeNamespace, secretRef } = storageos;
  if (!volumeName) errors.push(required(path.child('volumeName')));
  else checkText(volumeName, isDns1123Label, path.child('volumeName'), errors);
  if (volumeNamespace) checkText(volumeNamespace, isDns1123Label, path.child('volumeNamespace'), errors);
  if (secretRef !== undefined) requireReference(secretRef, path.child('secretRef'), errors);
}

function requireReference(
  reference: { readonly name?: string; readonly namespace?: string },
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!reference.name) errors.push(required(path.child('name')));
  if (!reference.namespace) errors.push(required(path.child('namespace')));
}

/** Requires a reference whose name and namespace are also well formed. */
function validateSecretReference(
  { name, namespace }: { readonly name?: string; readonly namespace?: string },
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(path.child('name')));
  else checkText(name, isDns1123Subdomain, path.child('name'), errors);
  if (!namespace) errors.push(required(path.child('namespace')));
  else checkText(namespace, isDns1123Label, path.child('namespace'), errors);
}
