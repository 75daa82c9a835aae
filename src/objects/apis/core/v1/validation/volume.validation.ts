import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Label } from '../../../../../base/machinery/names.js';
import { quantitySign } from '../../../../../base/machinery/values/quantity.js';
import type { KeyToPath } from '../source-selector.types.js';
import type {
  DownwardAPIVolumeFile,
  ProjectedVolumeSource,
  Volume,
  VolumeProjection,
  VolumeSource,
} from '../volume.types.js';
import { validateBundleProjection, validateCertificateProjection } from './certificate-projection.validation.js';
import { validatePersistentVolumeClaimSpec } from './claim-spec.validation.js';
import { checkOneOf, checkText } from './common.validation.js';
import { validateFieldSelector, validateResourceFieldSelector, volumeFields } from './environment.validation.js';
import { checkFilePath } from './file-path.validation.js';
import { validateDisk, validateStorageVolume } from './storage-volume.validation.js';
import { validateTemplateMetadata } from './template-metadata.validation.js';
import type { VolumeMap } from './volume-mount.validation.js';

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;

/** Checks the volumes of a pod and returns the valid ones, by name: only they can be mounted. */
export function validateVolumes(volumes: readonly Volume[], path: FieldPath, errors: FieldError[]): VolumeMap {
  const valid = new Map<string, Volume>();
  volumes.forEach((volume, i) => {
    const at = path.index(i);
    const before = errors.length;
    validateSource(volume, at, errors);
    if (volume.name === '') errors.push(required(at.child('name')));
    else checkText(volume.name, isDns1123Label, at.child('name'), errors);
    if (valid.has(volume.name)) errors.push(duplicate(at.child('name'), volume.name));
    if (errors.length === before) valid.set(volume.name, volume);
  });
  return valid;
}

/** Sources in the order in which rules are checked: the first one set is used, any further one is an error. */
const sourceNames = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const satisfies readonly (keyof VolumeSource)[];

/** The fields that clients know for a second source, where they are others than the names of the sources. */
const repeatedNames: Readonly<Partial<Record<(typeof sourceNames)[number], string>>> = {
  cephfs: 'cephFS',
  downwardAPI: 'downwarAPI',
};

function validateSource(volume: Volume, path: FieldPath, errors: FieldError[]): void {
  let hasSource = false;
  for (const name of sourceNames) {
    if (volume[name] === undefined) continue;
    const at = path.child(name);
    if (hasSource) {
      errors.push(forbidden(path.child(repeatedNames[name] ?? name), 'may not specify more than 1 volume type'));
      continue;
    }
    hasSource = true;
    const only: Volume = { name: volume.name, [name]: volume[name] };
    const { gcePersistentDisk: gce, awsElasticBlockStore: ebs } = only;
    // The path reported for this source differs from the name of its field.
    if (gce !== undefined) validateDisk(gce.pdName, 'pdName', gce.partition, path.child('persistentDisk'), errors);
    else if (ebs !== undefined) validateDisk(ebs.volumeID, 'volumeID', ebs.partition, at, errors);
    else if (!validatePodVolume(only, at, errors)) validateStorageVolume(only, at, errors);
  }
  if (!hasSource) errors.push(required(path, 'must specify a volume type'));
}

/** Validates sources that are API objects or parts of the node. Returns false for those of storage systems. */
function validatePodVolume(volume: Volume, path: FieldPath, errors: FieldError[]): boolean {
  const { emptyDir, secret, configMap, downwardAPI, projected, image, ephemeral } = volume;
  if (emptyDir !== undefined) {
    if (emptyDir.sizeLimit !== undefined && quantitySign(emptyDir.sizeLimit) < 0) {
      errors.push(forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity'));
    }
  } else if (secret !== undefined) {
    if (!secret.secretName) errors.push(required(path.child('secretName')));
    checkMode(secret.defaultMode, path.child('defaultMode'), errors);
    validateItems(secret.items, path.child('items'), errors);
  } else if (configMap !== undefined) {
    if (!configMap.name) errors.push(required(path.child('name')));
    checkMode(configMap.defaultMode, path.child('defaultMode'), errors);
    validateItems(configMap.items, path.child('items'), errors);
  } else if (downwardAPI !== undefined) {
    checkMode(downwardAPI.defaultMode, path.child('defaultMode'), errors);
    for (const file of downwardAPI.items ?? []) validateDownwardFile(file, path, errors);
  } else if (projected !== undefined) {
    validateProjected(projected, path, errors);
  } else if (image !== undefined) {
    if (!image.reference) errors.push(required(path.child('reference')));
    const allowed = ['Always', 'IfNotPresent', 'Never'];
    if (image.pullPolicy) checkOneOf(image.pullPolicy, allowed, path.child('pullPolicy'), errors);
  } else if (ephemeral !== undefined) {
    const at = path.child('volumeClaimTemplate');
    const claim = ephemeral.volumeClaimTemplate;
    if (claim === undefined) errors.push(required(at));
    else {
      errors.push(...validateTemplateMetadata(claim.metadata, at.child('metadata')));
      errors.push(...validatePersistentVolumeClaimSpec(claim.spec, at.child('spec')));
    }
  } else return false;
  return true;
}

function checkMode(mode: number | undefined, path: FieldPath, errors: FieldError[]): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    errors.push(invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive'));
  }
}

function validateItems(items: readonly KeyToPath[] | undefined, path: FieldPath, errors: FieldError[]): void {
  items?.forEach((item, i) => {
    validateItem(item, path.index(i), errors);
  });
}

function validateItem(item: KeyToPath, path: FieldPath, errors: FieldError[]): void {
  if (item.key === '') errors.push(required(path.child('key')));
  if (item.path === '') errors.push(required(path.child('path')));
  checkFilePath(item.path, path.child('path'), errors);
  checkMode(item.mode, path.child('mode'), errors);
}

function validateDownwardFile(file: DownwardAPIVolumeFile, path: FieldPath, errors: FieldError[]): void {
  if (file.path === '') errors.push(required(path.child('path')));
  checkFilePath(file.path, path.child('path'), errors);
  if (file.fieldRef !== undefined) {
    validateFieldSelector(file.fieldRef, volumeFields, path.child('fieldRef'), errors);
    if (file.resourceFieldRef !== undefined) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(invalid(path, 'resource', detail));
    }
  } else if (file.resourceFieldRef !== undefined) {
    validateResourceFieldSelector(file.resourceFieldRef, true, path.child('resourceFieldRef'), errors);
  } else {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  }
  checkMode(file.mode, path.child('mode'), errors);
}

const projectionNames = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
] as const satisfies readonly (keyof VolumeProjection)[];

function validateProjected(projected: ProjectedVolumeSource, path: FieldPath, errors: FieldError[]): void {
  checkMode(projected.defaultMode, path.child('defaultMode'), errors);
  const files = new Set<string>();
  projected.sources?.forEach((source, i) => {
    const at = path.child('sources').index(i);
    let hasSource = false;
    for (const name of projectionNames) {
      if (source[name] === undefined) continue;
      if (hasSource) errors.push(forbidden(at, 'may not specify more than 1 volume type per source'));
      hasSource = true;
    }
    validateProjection(source, at, path, errors);
    // For API objects the message shows the name, not the path.
    const shown = source.secret?.name ?? source.configMap?.name;
    for (const file of filesOf(source)) {
      if (file === '') continue;
      if (files.has(file)) errors.push(invalid(path, shown ?? file, 'conflicting duplicate paths'));
      files.add(file);
    }
  });
}

function filesOf(source: VolumeProjection): string[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  const items = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])];
  const { credentialBundlePath, keyPath, certificateChainPath } = podCertificate ?? {};
  const others = [
    serviceAccountToken?.path,
    clusterTrustBundle?.path,
    credentialBundlePath,
    keyPath,
    certificateChainPath,
  ];
  return [...items.map((item) => item.path), ...others.map((path) => path ?? '')];
}

function validateProjection(source: VolumeProjection, at: FieldPath, path: FieldPath, errors: FieldError[]): void {
  for (const name of ['secret', 'configMap'] as const) {
    const projection = source[name];
    if (projection === undefined) continue;
    if (!projection.name) errors.push(required(at.child(name).child('name')));
    validateItems(projection.items, at.child(name).child('items'), errors);
  }
  for (const file of source.downwardAPI?.items ?? []) validateDownwardFile(file, at.child('downwardAPI'), errors);
  const token = source.serviceAccountToken;
  if (token !== undefined) {
    const seconds = token.expirationSeconds ?? minTokenSeconds;
    const secondsPath = at.child('serviceAccountToken').child('expirationSeconds');
    if (seconds < minTokenSeconds) {
      errors.push(invalid(secondsPath, seconds, 'may not specify a duration less than 10 minutes'));
    }
    if (seconds > maxTokenSeconds) {
      errors.push(invalid(secondsPath, seconds, 'may not specify a duration larger than 2^32 seconds'));
    }
    if (token.path === '') errors.push(required(path.child('path')));
    else checkFilePath(token.path, path.child('path'), errors);
  }
  if (source.clusterTrustBundle !== undefined) {
    validateBundleProjection(source.clusterTrustBundle, at.child('clusterTrustBundle'), errors);
  }
  if (source.podCertificate !== undefined) {
    validateCertificateProjection(source.podCertificate, at.child('podCertificate'), errors);
  }
}
