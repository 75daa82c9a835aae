import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';

/** Fills in defaults: the policy Retain, the mode Filesystem, and the usual values of the kind of storage. */
export function applyPersistentVolumeDefaults(object: PersistentVolume): void {
  const { spec, status } = object;
  status.phase ||= 'Pending';
  spec.persistentVolumeReclaimPolicy ||= 'Retain';
  spec.volumeMode ??= 'Filesystem';
  roundResources(spec.capacity);
  if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
  if (spec.iscsi !== undefined) spec.iscsi.iscsiInterface ||= 'default';
  if (spec.rbd !== undefined) {
    spec.rbd.pool ||= 'rbd';
    spec.rbd.user ||= 'admin';
    spec.rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (spec.scaleIO !== undefined) {
    spec.scaleIO.storageMode ||= 'ThinProvisioned';
    spec.scaleIO.fsType ||= 'xfs';
  }
  if (spec.azureDisk !== undefined) {
    spec.azureDisk.cachingMode ??= 'ReadWrite';
    spec.azureDisk.kind ??= 'Shared';
    spec.azureDisk.fsType ??= 'ext4';
    spec.azureDisk.readOnly ??= false;
  }
}
