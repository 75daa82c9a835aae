import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { PodSecurityPolicy } from '../../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';
import type { AnyContainer } from '../../pods/containers-of.js';
import { checkIds, checkSeLinux } from './check-ids.js';
import { containerAppArmor, containerSeccomp, profileRules } from './policy-profiles.js';

/** Adds an error for everything in a container that a policy forbids. */
export function checkContainer(
  container: AnyContainer,
  pod: Pod,
  policy: PodSecurityPolicy,
  names: VendorNames,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { spec } = policy;
  const ofPod = pod.spec.securityContext ?? {};
  const context = container.securityContext ?? {};
  const at = path.child('securityContext');
  const ids = (id: number | undefined) => (id === undefined ? [] : [id]);
  checkUser(container, pod, policy, at, errors);
  if (spec.runAsGroup !== undefined) {
    const groups = ids(context.runAsGroup ?? ofPod.runAsGroup);
    checkIds(groups, spec.runAsGroup, at.child('runAsGroup'), 'group', errors);
  }
  checkSeLinux(context.seLinuxOptions ?? ofPod.seLinuxOptions, spec.seLinux, at.child('seLinuxOptions'), errors);
  checkProfiles(container, pod, policy, names, at, errors);
  if (context.privileged === true && spec.privileged !== true) {
    errors.push(invalid(at.child('privileged'), true, 'Privileged containers are not allowed'));
  }
  checkCapabilities(context.capabilities, policy, at.child('capabilities'), errors);
  checkHostPorts(container, policy, path.child('ports'), errors);
  if (spec.readOnlyRootFilesystem === true && context.readOnlyRootFilesystem !== true) {
    const detail = 'ReadOnlyRootFilesystem must be set to true';
    errors.push(invalid(at.child('readOnlyRootFilesystem'), context.readOnlyRootFilesystem ?? false, detail));
  }
  if (spec.allowPrivilegeEscalation === false && context.allowPrivilegeEscalation !== false) {
    const detail = 'Allowing privilege escalation for containers is not allowed';
    errors.push(invalid(at.child('allowPrivilegeEscalation'), context.allowPrivilegeEscalation ?? true, detail));
  }
  const { procMount = 'Default' } = context;
  if (procMount !== 'Default' && !(spec.allowedProcMountTypes ?? []).includes(procMount)) {
    errors.push(invalid(at.child('procMount'), procMount, 'ProcMountType is not allowed'));
  }
}

function checkUser(
  { securityContext: context = {} }: AnyContainer,
  { spec: { securityContext: ofPod = {} } }: Pod,
  { spec: { runAsUser } }: PodSecurityPolicy,
  at: FieldPath,
  errors: FieldError[],
): void {
  const user = context.runAsUser ?? ofPod.runAsUser;
  checkIds(user === undefined ? [] : [user], runAsUser, at.child('runAsUser'), 'user', errors);
  if (runAsUser.rule !== 'MustRunAsNonRoot') return;
  const isNonRoot = context.runAsNonRoot ?? ofPod.runAsNonRoot;
  if (user === 0) errors.push(invalid(at.child('runAsUser'), 0, 'running with the root UID is forbidden'));
  else if (user === undefined && isNonRoot === undefined)
    errors.push(required(at.child('runAsNonRoot'), 'must be true'));
  if (isNonRoot === false) errors.push(invalid(at.child('runAsNonRoot'), false, 'must be true'));
}

function checkProfiles(
  container: AnyContainer,
  pod: Pod,
  { metadata: { annotations } }: PodSecurityPolicy,
  names: VendorNames,
  at: FieldPath,
  errors: FieldError[],
): void {
  const isAllowed = (allowed: readonly string[], name: string) => allowed.includes('*') || allowed.includes(name);
  const seccomp = profileRules(annotations, 'seccomp.security.alpha', names).allowed ?? [];
  const profile = containerSeccomp(pod, container, names);
  if (!isAllowed(seccomp, profile) && !(profile === '' && seccomp.length === 0)) {
    const detail = `${profile} is not an allowed seccomp profile. Valid values are ${seccomp.join(',')}`;
    errors.push(forbidden(at.child('seccompProfile'), detail));
  }
  const appArmor = profileRules(annotations, 'apparmor.security.beta', names).allowed;
  const own = containerAppArmor(pod, container, names);
  if (appArmor === undefined || isAllowed(appArmor, own)) return;
  const valid = `Allowed values: ${JSON.stringify(appArmor.join(','))}`;
  const detail = own === '' ? 'AppArmor profile must be set' : `${own} is not an allowed profile. ${valid}`;
  errors.push(forbidden(at.child('appArmorProfile'), detail));
}

function checkCapabilities(
  capabilities: { readonly add?: readonly string[]; readonly drop?: readonly string[] } | undefined,
  { spec }: PodSecurityPolicy,
  at: FieldPath,
  errors: FieldError[],
): void {
  const { add = [], drop = [] } = capabilities ?? {};
  const allowed = [...(spec.allowedCapabilities ?? []), ...(spec.defaultAddCapabilities ?? [])];
  for (const capability of add) {
    if (allowed.includes('*') || allowed.includes(capability)) continue;
    errors.push(invalid(at.child('add'), capability, 'capability may not be added'));
  }
  for (const capability of spec.requiredDropCapabilities ?? []) {
    if (drop.includes(capability)) continue;
    errors.push(invalid(at.child('drop'), drop, `${capability} is required to be dropped but was not found`));
  }
}

function checkHostPorts(
  container: AnyContainer,
  { spec: { hostPorts = [] } }: PodSecurityPolicy,
  at: FieldPath,
  errors: FieldError[],
): void {
  for (const [i, { hostPort }] of (container.ports ?? []).entries()) {
    if (!hostPort || hostPorts.some(({ min, max }) => hostPort >= min && hostPort <= max)) continue;
    const ranges = hostPorts.map(({ min, max }) => (min === max ? `${min}` : `${min}-${max}`)).join(',');
    const detail = `Host port ${hostPort} is not allowed to be used. Allowed ports: [${ranges}]`;
    errors.push(invalid(at.index(i).child('hostPort'), hostPort, detail));
  }
}
