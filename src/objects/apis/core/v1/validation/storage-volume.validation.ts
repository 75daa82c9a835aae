import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../../../base/machinery/names.js';
import type { Volume } from '../volume.types.js';
import type { AzureDiskVolumeSource, FCVolumeSource, ISCSIVolumeSource } from '../volume-source.types.js';
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

/** Validates a volume of the node or of a storage system. `path` is the path of the source. */
export function validateStorageVolume(volume: Volume, path: FieldPath, errors: FieldError[]): void {
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
  if (quobyte !== undefined) {
    const detail = 'must be a host:port pair or multiple pairs separated by commas';
    if (quobyte.registry === '') errors.push(required(path.child('registry'), detail));
    if (quobyte.volume === '') errors.push(required(path.child('volume')));
  }
  if (iscsi !== undefined) validateIscsi(iscsi, path, errors);
  if (fc !== undefined) validateFibreChannel(fc, path, errors);
  if (volume.flocker !== undefined) validateFlocker(volume.flocker, path, errors);
  if (csi !== undefined) {
    if (csi.driver === '') errors.push(required(path.child('driver')));
    checkText(csi.driver.toLowerCase(), isDns1123Subdomain, path.child('driver'), errors);
    if (csi.nodePublishSecretRef !== undefined && !csi.nodePublishSecretRef.name) {
      errors.push(required(path.child('nodePublishSecretRef').child('name')));
    }
  }
  if (azureDisk !== undefined) validateAzureDisk(azureDisk, path, errors);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

const iqnPrefixes: readonly string[] = ['iqn', 'eui', 'naa'];

function validateIscsi(iscsi: ISCSIVolumeSource, path: FieldPath, errors: FieldError[]): void {
  if (iscsi.iqn !== '' && !iqnPrefixes.some((prefix) => iscsi.iqn.startsWith(prefix))) {
    errors.push(invalid(path.child('iqn'), iscsi.iqn, 'must be valid format starting with iqn, eui, or naa'));
  }
  checkRange(iscsi.lun, 0, 255, path.child('lun'), errors);
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) {
    errors.push(required(path.child('secretRef')));
  }
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
