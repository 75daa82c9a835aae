import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../../../base/machinery/names.js';
import { validateCsiDriverName } from '../../../storage/v1/validation/csi-driver-name.validation.js';
import type { Volume } from '../volume.types.js';
import type {
  AzureDiskVolumeSource,
  FCVolumeSource,
  ISCSIVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
} from '../volume-source.types.js';
import { checkLocalDescendingPath, checkNoBacksteps, checkOneOf, checkRange, checkText } from './common.validation.js';

const hostPathTypes: readonly string[] = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** The required fields of each volume source. Most storage systems have no other rules. */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  gitRepo: ['repository'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  glusterfs: ['endpoints', 'path'],
  persistentVolumeClaim: ['claimName'],
  rbd: ['monitors', 'image'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  flexVolume: ['driver'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  storageos: ['volumeName'],
  scaleIO: ['gateway', 'system', 'volumeName'],
};

/**
 * Validates a volume of the node or of a storage system. `path` is the path of the source. `isOfPod`: whether a pod names
 * the storage itself; a PersistentVolume has other rules for references and names.
 */
export function validateStorageVolume(volume: Volume, path: FieldPath, errors: FieldError[], isOfPod = true): void {
  for (const [source, fields] of Object.entries(requiredFields)) {
    const value = volume[source as keyof Volume] as Readonly<Record<string, unknown>> | undefined;
    if (value === undefined) continue;
    for (const field of fields) if (isEmpty(value[field])) errors.push(required(path.child(field)));
  }
  const { hostPath, gitRepo, nfs, iscsi, fc, csi, azureDisk, quobyte } = volume;
  if (hostPath !== undefined) {
    if (hostPath.path === '') errors.push(required(path.child('path')));
    else {
      checkNoBacksteps(hostPath.path, path.child('path'), errors);
      if (hostPath.type !== undefined) checkOneOf(hostPath.type, hostPathTypes, path.child('type'), errors);
    }
  }
  if (gitRepo?.directory) checkLocalDescendingPath(gitRepo.directory, path.child('directory'), errors);
  if (nfs !== undefined && !nfs.path.startsWith('/')) {
    errors.push(invalid(path.child('path'), nfs.path, 'must be an absolute path'));
  }
  if (quobyte !== undefined) validateQuobyte(quobyte, path, errors);
  if (iscsi !== undefined) validateIscsi(iscsi, path, errors, isOfPod);
  if (isOfPod) {
    const { cinder, storageos } = volume;
    if (cinder?.secretRef !== undefined && !cinder.secretRef.name) {
      errors.push(required(path.child('secretRef').child('name')));
    }
    if (storageos !== undefined) validateStorageOs(storageos, path, errors);
  }
  if (fc !== undefined) validateFibreChannel(fc, path, errors);
  if (volume.flocker !== undefined) validateFlocker(volume.flocker, path, errors);
  if (csi !== undefined) {
    errors.push(...validateCsiDriverName(csi.driver, path.child('driver')));
    const secret = csi.nodePublishSecretRef;
    if (secret !== undefined) {
      if (!secret.name) errors.push(required(path.child('nodePublishSecretRef').child('name')));
      // Like the reference, errors about the form of the name are reported at the path of a field that does not exist.
      else checkText(secret.name, isDns1123Subdomain, path.child('name'), errors);
    }
  }
  if (azureDisk !== undefined) validateAzureDisk(azureDisk, path, errors);
}

const longestTenant = 64;
const hostAndPort = /^(?:\[[^\]]*\]|[^[\]:]*):[^:]*$/;

function validateQuobyte(quobyte: QuobyteVolumeSource, path: FieldPath, errors: FieldError[]): void {
  const { registry, tenant = '', volume } = quobyte;
  const detail = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') errors.push(required(path.child('registry'), detail));
  else if (tenant.length > longestTenant) {
    const rule = `must be a UUID and may not exceed a length of ${longestTenant} characters`;
    errors.push(required(path.child('tenant'), rule));
  } else {
    for (const pair of registry.split(',')) {
      if (!hostAndPort.test(pair)) errors.push(invalid(path.child('registry'), registry, detail));
    }
  }
  if (volume === '') errors.push(required(path.child('volume')));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

const iqnPrefixes: readonly string[] = ['iqn', 'eui', 'naa'];

function validateIscsi(iscsi: ISCSIVolumeSource, path: FieldPath, errors: FieldError[], isOfPod: boolean): void {
  const detail = isOfPod ? 'must be valid format starting with iqn, eui, or naa' : 'must be valid format';
  if (iscsi.iqn !== '' && !iqnPrefixes.some((prefix) => iscsi.iqn.startsWith(prefix))) {
    errors.push(invalid(path.child('iqn'), iscsi.iqn, detail));
  }
  const initiator = iscsi.initiatorName;
  if (initiator !== undefined && !iqnPrefixes.some((prefix) => initiator.startsWith(`${prefix}.`))) {
    errors.push(invalid(path.child('initiatorname'), initiator, detail));
  }
  if (!isOfPod && iscsi.secretRef !== undefined && !iscsi.secretRef.name) {
    errors.push(required(path.child('secretRef').child('name')));
  }
  checkRange(iscsi.lun, 0, 255, path.child('lun'), errors);
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) {
    errors.push(required(path.child('secretRef')));
  }
}

function validateStorageOs(storageos: StorageOSVolumeSource, path: FieldPath, errors: FieldError[]): void {
  const { volumeName, volumeNamespace, secretRef } = storageos;
  if (volumeName) checkText(volumeName, isDns1123Label, path.child('volumeName'), errors);
  if (volumeNamespace) checkText(volumeNamespace, isDns1123Label, path.child('volumeNamespace'), errors);
  if (secretRef !== undefined && !secretRef.name) errors.push(required(path.child('secretRef').child('name')));
}

function validateFibreChannel(fc: FCVolumeSource, path: FieldPath, errors: FieldError[]): void {
  const names = fc.targetWWNs ?? [];
  const ids = fc.wwids ?? [];
  const at = path.child('targetWWNs');
  if (names.length === 0 && ids.length === 0) {
    errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'));
  } else if (names.length > 0 && ids.length > 0) {
    errors.push(invalid(at, names, 'targetWWNs and wwids can not be specified simultaneously'));
  }
  if (names.length === 0) return;
  if (fc.lun === undefined) errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'));
  else checkRange(fc.lun, 0, 255, path.child('lun'), errors);
}

function validateFlocker(
  flocker: { readonly datasetName?: string; readonly datasetUUID?: string },
  path: FieldPath,
  errors: FieldError[],
): void {
  const { datasetName, datasetUUID } = flocker;
  if (!datasetName && !datasetUUID) errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (datasetName && datasetUUID) {
    const detail = 'datasetName and datasetUUID can not be specified simultaneously';
    errors.push(invalid(path, 'resource', detail));
  }
  if (datasetName?.includes('/')) errors.push(invalid(path.child('datasetName'), datasetName, "must not contain '/'"));
}

const managedDiskUri =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDiskUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function validateAzureDisk(disk: AzureDiskVolumeSource, path: FieldPath, errors: FieldError[]): void {
  const caching = disk.cachingMode ?? 'ReadWrite';
  checkOneOf(caching, ['None', 'ReadOnly', 'ReadWrite'], path.child('cachingMode'), errors);
  const kind = disk.kind ?? 'Shared';
  checkOneOf(kind, ['Dedicated', 'Managed', 'Shared'], path.child('kind'), errors);
  const isManaged = kind === 'Managed';
  if (!disk.diskURI.startsWith(isManaged ? '/subscriptions/' : 'https://')) {
    errors.push(notSupported(path.child('diskURI'), disk.diskURI, [isManaged ? managedDiskUri : blobDiskUri]));
  }
}

/** Validates a GCE or AWS disk. Partitions count from 1; 0 means the whole disk. */
export function validateDisk(
  id: string,
  idName: string,
  partition: number | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (id === '') errors.push(required(path.child(idName)));
  if (partition !== undefined && (partition < 0 || partition > 255)) {
    errors.push(invalid(path.child('partition'), partition, 'must be between 1 and 255, inclusive'));
  }
}
