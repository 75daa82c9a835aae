import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import type { Container, EphemeralContainer, VolumeDevice, VolumeMount } from '../container.types.js';
import type { Volume } from '../volume.types.js';
import { checkLocalDescendingPath } from './common.validation.js';

/** Volumes of a pod that are valid, by name. */
export type VolumeMap = ReadonlyMap<string, Volume>;

const propagationModes: readonly string[] = ['Bidirectional', 'HostToContainer', 'None'];

/** Validates the mounts of volumes as files in a container. */
export function validateVolumeMounts(
  container: Container | EphemeralContainer,
  volumes: VolumeMap,
  path: FieldPath,
  errors: FieldError[],
): void {
  const devices = container.volumeDevices ?? [];
  const deviceNames = new Set(devices.map(({ name }) => name));
  const devicePaths = new Set(devices.map(({ devicePath }) => devicePath));
  const paths = new Set<string>();
  container.volumeMounts?.forEach((mount, i) => {
    const at = path.index(i);
    if (mount.name === '') errors.push(required(at.child('name')));
    if (!volumes.has(mount.name)) errors.push(notFound(at.child('name'), mount.name));
    if (mount.mountPath === '') errors.push(required(at.child('mountPath')));
    if (paths.has(mount.mountPath)) errors.push(invalid(at.child('mountPath'), mount.mountPath, 'must be unique'));
    paths.add(mount.mountPath);
    if (deviceNames.has(mount.name)) {
      errors.push(invalid(at.child('name'), mount.name, 'must not already exist in volumeDevices'));
    }
    if (devicePaths.has(mount.mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices';
      errors.push(invalid(at.child('mountPath'), mount.mountPath, detail));
    }
    // Most of these faults are reported at a path without the index of the mount.
    validateSubPath(mount, path, i, errors);
    if (mount.mountPropagation !== undefined) checkPropagation(container, mount.mountPropagation, path, errors);
    if (mount.recursiveReadOnly !== undefined) checkRecursiveReadOnly(mount, path.child('recursiveReadOnly'), errors);
  });
}

function validateSubPath(mount: VolumeMount, path: FieldPath, i: number, errors: FieldError[]): void {
  if (mount.subPath) checkLocalDescendingPath(mount.subPath, path.child('subPath'), errors);
  if (!mount.subPathExpr) return;
  const at = path.child('subPathExpr');
  if (mount.subPath) {
    const detail = 'subPathExpr and subPath are mutually exclusive';
    errors.push(invalid(path.index(i).child('subPathExpr'), mount.subPathExpr, detail));
  }
  checkLocalDescendingPath(mount.subPathExpr, at, errors);
}

function checkPropagation(
  container: Container | EphemeralContainer,
  mode: string,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('mountPropagation');
  if (!propagationModes.includes(mode)) errors.push(notSupported(at, mode, propagationModes));
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    errors.push(forbidden(at, 'Bidirectional mount propagation is available only to privileged containers'));
  }
}

function checkRecursiveReadOnly(mount: VolumeMount, path: FieldPath, errors: FieldError[]): void {
  const mode = mount.recursiveReadOnly as string;
  if (mode === 'Disabled') return;
  if (mode !== 'Enabled' && mode !== 'IfPossible') {
    errors.push(notSupported(path, mode, ['Disabled', 'Enabled', 'IfPossible']));
    return;
  }
  if (mount.readOnly !== true) errors.push(forbidden(path, 'may only be specified when readOnly is true'));
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  }
}

/** Validates the mounts of volumes as block devices in a container. */
export function validateVolumeDevices(
  devices: readonly VolumeDevice[],
  mounts: readonly VolumeMount[],
  volumes: VolumeMap,
  path: FieldPath,
  errors: FieldError[],
): void {
  const mountNames = new Set(mounts.map(({ name }) => name));
  const mountPaths = new Set(mounts.map(({ mountPath }) => mountPath));
  const names = new Set<string>();
  const paths = new Set<string>();
  devices.forEach(({ name, devicePath }, i) => {
    const nameAt = path.index(i).child('name');
    const pathAt = path.index(i).child('devicePath');
    const volume = volumes.get(name);
    if (name === '') errors.push(required(nameAt));
    if (names.has(name)) errors.push(invalid(nameAt, name, 'must be unique'));
    if (volume === undefined) errors.push(notFound(nameAt, name));
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      const detail = 'can only use volume source type of PersistentVolumeClaim for block mode';
      errors.push(invalid(nameAt, name, detail));
    }
    if (devicePath === '') errors.push(required(pathAt));
    if (paths.has(devicePath)) errors.push(invalid(pathAt, devicePath, 'must be unique'));
    if (devicePath.split('/').includes('..')) {
      errors.push(invalid(pathAt, devicePath, "can not contain backsteps ('..')"));
    } else paths.add(devicePath);
    if (mountNames.has(name)) {
      errors.push(invalid(nameAt, name, 'must not already exist in volumeMounts'));
    }
    if (mountPaths.has(devicePath)) {
      errors.push(invalid(pathAt, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
  });
}
