import type { DownwardAPIVolumeFile, Volume } from '../volume.types.js';
import { imageTag } from './container.defaults.js';

/** 0644 */
const defaultFileMode = 0o644;

/** Fills the defaults of a volume; a volume without a source becomes an empty directory. Changes `volume`. */
export function applyVolumeDefaults(volume: Volume): void {
  if (hasNoSource(volume)) volume.emptyDir = {};
  const { hostPath, secret, configMap, downwardAPI, projected, ephemeral, image } = volume;
  if (hostPath !== undefined) hostPath.type ??= '';
  if (secret !== undefined) secret.defaultMode ??= defaultFileMode;
  if (configMap !== undefined) configMap.defaultMode ??= defaultFileMode;
  if (downwardAPI !== undefined) {
    downwardAPI.defaultMode ??= defaultFileMode;
    applyFieldRefDefaults(downwardAPI.items);
  }
  if (projected !== undefined) {
    projected.defaultMode ??= defaultFileMode;
    for (const source of projected.sources ?? []) {
      if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= 3600;
      applyFieldRefDefaults(source.downwardAPI?.items);
    }
  }
  if (ephemeral?.volumeClaimTemplate !== undefined) ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem';
  if (image !== undefined && !image.pullPolicy) {
    image.pullPolicy = imageTag(image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  }
  applyNetworkStorageDefaults(volume);
}

function hasNoSource(volume: Volume): boolean {
  for (const key of Object.keys(volume)) if (key !== 'name') return false;
  return true;
}

function applyFieldRefDefaults(items: readonly DownwardAPIVolumeFile[] | undefined): void {
  for (const { fieldRef } of items ?? []) if (fieldRef !== undefined) fieldRef.apiVersion ||= 'v1';
}

function applyNetworkStorageDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ||= 'default';
  if (rbd !== undefined) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.kind ??= 'Shared';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}
