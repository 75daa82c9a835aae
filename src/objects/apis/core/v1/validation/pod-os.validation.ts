import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../../../base/machinery/field-error.js';
import type { Container } from '../container.types.js';
import type { PodSpec } from '../pod-spec.types.js';
import { checkOneOf } from './common.validation.js';

/** Fields that only one operating system supports, in the order in which messages list them. */
const linuxPodFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
] as const;
const linuxSharedFields = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const;
const linuxContainerFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** Validates the operating system that a pod declares: no field may require another one. */
export function validatePodOs(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  if (spec.os === undefined) return;
  const { name } = spec.os;
  if (name === '') errors.push(required(path.child('os').child('name')));
  else checkOneOf(name, ['linux', 'windows'], path.child('os'), errors);
  if (name === 'linux') validateLinux(spec, path, errors);
  if (name === 'windows') validateWindows(spec, path, errors);
}

function validateLinux(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const refuse = (owner: FieldPath) => {
    const at = owner.child('securityContext').child('windowsOptions');
    errors.push(forbidden(at, 'windows options cannot be set for a linux pod'));
  };
  if (spec.securityContext?.windowsOptions !== undefined) refuse(path);
  for (const [container, at] of containersOf(spec, path)) {
    if (container.securityContext?.windowsOptions !== undefined) refuse(at);
  }
}

function validateWindows(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const refuse = (at: FieldPath) => errors.push(forbidden(at, 'cannot be set for a windows pod'));
  const pod = spec.securityContext;
  for (const field of linuxPodFields) {
    if (isGiven(pod?.[field])) refuse(path.child('securityContext').child(field));
  }
  for (const field of linuxSharedFields) {
    // `hostUsers` is refused even when it is false; the other fields only when they are true.
    const isSet = field === 'hostUsers' ? spec.hostUsers !== undefined : spec[field] === true;
    if (isSet) refuse(path.child(field));
  }
  for (const [container, at] of containersOf(spec, path)) {
    for (const field of linuxContainerFields) {
      if (isGiven(container.securityContext?.[field])) refuse(at.child('securityContext').child(field));
    }
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Validates a pod with its own user namespace, which must not share other namespaces of the host. */
export function validateHostUsers(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  if (spec.hostUsers !== false) return;
  const refuse = (at: FieldPath) => errors.push(forbidden(at, 'when `hostUsers` is false'));
  if (spec.hostNetwork === true) refuse(path.child('hostNetwork'));
  if (spec.hostPID === true) refuse(path.child('HostPID'));
  if (spec.hostIPC === true) refuse(path.child('HostIPC'));
  for (const [container, at] of containersOf(spec, path)) {
    if ((container.volumeDevices ?? []).length > 0) refuse(at.child('volumeDevices'));
  }
}

/**
 * Validates containers that are processes of a Windows node: in one pod, either all containers are or none is, and the
 * pod then shares the network of the node.
 */
export function validateHostProcess(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = containersOf(spec, path);
  let count = 0;
  for (const [container, at] of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalid(at.child('securityContext').child('windowsOptions').child('hostProcess'), own, detail));
    }
    if (own ?? ofPod) count++;
  }
  if (count === 0) return;
  if (count < containers.length) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(invalid(path, '', detail));
  }
  if (spec.hostNetwork !== true) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(invalid(path.child('hostNetwork'), false, detail));
  }
}

function containersOf(spec: PodSpec, path: FieldPath): [Container, FieldPath][] {
  const of = (field: 'initContainers' | 'containers' | 'ephemeralContainers') =>
    (spec[field] ?? []).map((c, i): [Container, FieldPath] => [c as Container, path.child(field).index(i)]);
  return [...of('initContainers'), ...of('containers'), ...of('ephemeralContainers')];
}
