import { posix } from 'node:path';
import { type FieldError, FieldPath, forbidden, invalid, required } from '../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { PodSecurityPolicy } from '../../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';
import { containersOf } from '../../pods/containers-of.js';
import { checkContainer } from './check-container.js';
import { checkIds, checkSeLinux } from './check-ids.js';
import { podSeccomp, profileRules } from './policy-profiles.js';

const specPath = FieldPath.of('spec');
const contextPath = specPath.child('securityContext');
/** Kernel parameters that affect only the pod. */
const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_syncookies',
]);

/** Everything in a pod that a policy forbids. */
export function checkPod(pod: Pod, policy: PodSecurityPolicy, names: VendorNames): FieldError[] {
  const { spec } = policy;
  const context = pod.spec.securityContext ?? {};
  const errors: FieldError[] = [];
  for (const [field, what] of [
    ['hostNetwork', 'network'],
    ['hostPID', 'PID'],
    ['hostIPC', 'IPC'],
  ] as const) {
    if (pod.spec[field] !== true || spec[field] === true) continue;
    errors.push(invalid(contextPath.child(field), true, `Host ${what} is not allowed to be used`));
  }
  const groups = context.supplementalGroups ?? [];
  checkIds(groups, spec.supplementalGroups, contextPath.child('supplementalGroups'), 'group', errors);
  const fsGroups = context.fsGroup === undefined ? [] : [context.fsGroup];
  checkIds(fsGroups, spec.fsGroup, contextPath.child('fsGroup'), 'group', errors);
  checkSeLinux(context.seLinuxOptions, spec.seLinux, contextPath.child('seLinuxOptions'), errors);
  const seccomp = profileRules(policy.metadata.annotations, 'seccomp.security.alpha', names);
  const profile = podSeccomp(pod, names);
  if (profile !== '' && !(seccomp.allowed ?? []).some((allowed) => allowed === '*' || allowed === profile)) {
    const valid = `Valid values are ${(seccomp.allowed ?? []).join(',')}`;
    const detail = `${profile} is not an allowed seccomp profile. ${valid}`;
    errors.push(forbidden(contextPath.child('seccompProfile'), detail));
  }
  checkSysctls(pod, policy, errors);
  checkVolumes(pod, policy, names, errors);
  checkRuntimeClass(pod, policy, errors);
  const lists = [
    ['initContainers', pod.spec.initContainers],
    ['containers', pod.spec.containers],
    ['ephemeralContainers', pod.spec.ephemeralContainers],
  ] as const;
  for (const [field, containers] of lists) {
    for (const [i, container] of (containers ?? []).entries()) {
      checkContainer(container, pod, policy, names, specPath.child(field).index(i), errors);
    }
  }
  return errors;
}

function checkSysctls({ spec }: Pod, policy: PodSecurityPolicy, errors: FieldError[]): void {
  const matches = (patterns: readonly string[] | undefined, name: string) =>
    (patterns ?? []).some((p) => (p.endsWith('*') ? name.startsWith(p.slice(0, -1)) : p === name));
  for (const [i, sysctl] of (spec.securityContext?.sysctls ?? []).entries()) {
    // The kernel accepts a slash in place of a dot.
    const name = sysctl.name.replaceAll('/', '.');
    const path = contextPath.child('sysctls').index(i);
    if (matches(policy.spec.forbiddenSysctls, name)) {
      errors.push(forbidden(path, `sysctl ${JSON.stringify(name)} is not allowed`));
    } else if (!safeSysctls.has(name) && !matches(policy.spec.allowedUnsafeSysctls, name)) {
      errors.push(forbidden(path, `unsafe sysctl ${JSON.stringify(name)} is not allowed`));
    }
  }
}

function checkVolumes(pod: Pod, { spec }: PodSecurityPolicy, names: VendorNames, errors: FieldError[]): void {
  const allowed: readonly string[] = spec.volumes ?? [];
  const drivers = (spec.allowedFlexVolumes ?? []).map(({ driver }) => driver);
  const csiDrivers = (spec.allowedCSIDrivers ?? []).map(({ name }) => name);
  for (const [i, volume] of (pod.spec.volumes ?? []).entries()) {
    const path = specPath.child('volumes').index(i);
    const type = Object.keys(volume).find((key) => key !== 'name' && volume[key as 'hostPath'] !== undefined) ?? '';
    const isAllowed = allowed.includes('*') || allowed.includes(type);
    if (!isAllowed && !(allowed.includes('secret') && isTokenVolume(volume, names))) {
      errors.push(invalid(path, type, `${type} volumes are not allowed to be used`));
    }
    if (volume.hostPath !== undefined) checkHostPath(pod, spec, volume.name, volume.hostPath.path, path, errors);
    if (volume.flexVolume !== undefined && drivers.length > 0 && !drivers.includes(volume.flexVolume.driver)) {
      const { driver } = volume.flexVolume;
      errors.push(invalid(path.child('driver'), driver, 'Flexvolume driver is not allowed to be used'));
    }
    if (volume.csi !== undefined && csiDrivers.length > 0 && !csiDrivers.includes(volume.csi.driver)) {
      const detail = 'Inline CSI driver is not allowed to be used';
      errors.push(invalid(path.child('csi').child('driver'), volume.csi.driver, detail));
    }
  }
}

/**
 * Whether this is the service account token volume that every pod gets: it exposes no more than the token secret used
 * to.
 */
function isTokenVolume(
  volume: NonNullable<Pod['spec']['volumes']>[number],
  { rootAuthorityMap }: VendorNames,
): boolean {
  const sources = volume.projected?.sources ?? [];
  return (
    sources.length > 0 &&
    sources.every(({ serviceAccountToken, configMap, downwardAPI, ...others }) => {
      if (Object.values(others).some((source) => source !== undefined)) return false;
      if (serviceAccountToken !== undefined) return !serviceAccountToken.audience;
      if (configMap !== undefined) return configMap.name === rootAuthorityMap;
      return (downwardAPI?.items ?? []).every(({ fieldRef }) => fieldRef?.fieldPath === 'metadata.namespace');
    })
  );
}

function checkHostPath(
  pod: Pod,
  { allowedHostPaths = [] }: PodSecurityPolicy['spec'],
  volume: string,
  path: string,
  at: FieldPath,
  errors: FieldError[],
): void {
  if (allowedHostPaths.length === 0) return;
  const clean = (text: string) => posix.normalize(text).replace(/(?<=.)\/$/, '');
  const wanted = clean(path);
  const matching = allowedHostPaths.filter(({ pathPrefix = '' }) => {
    const prefix = clean(pathPrefix);
    return wanted === prefix || wanted.startsWith(prefix === '/' ? prefix : `${prefix}/`);
  });
  if (matching.length === 0) {
    errors.push(invalid(at.child('hostPath').child('pathPrefix'), path, 'is not allowed to be used'));
  } else if (matching.every(({ readOnly }) => readOnly === true)) {
    for (const container of containersOf(pod.spec)) {
      for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
        if (mount.name !== volume || mount.readOnly === true) continue;
        const mounts = specPath.child('containers').key(container.name).child('volumeMounts').index(i);
        errors.push(invalid(mounts.child('readOnly'), false, 'must be read-only'));
      }
    }
  }
}

function checkRuntimeClass({ spec }: Pod, policy: PodSecurityPolicy, errors: FieldError[]): void {
  const { runtimeClass } = policy.spec;
  const name = spec.runtimeClassName;
  if (runtimeClass === undefined || name === undefined) return;
  const allowed = runtimeClass.allowedRuntimeClassNames ?? [];
  const path = FieldPath.of('spec', 'runtimeClassName');
  if (name === '') errors.push(required(path, 'must not be empty'));
  else if (!allowed.includes('*') && !allowed.includes(name)) {
    errors.push(invalid(path, name, `must be one of: [${allowed.join(', ')}]`));
  }
}
