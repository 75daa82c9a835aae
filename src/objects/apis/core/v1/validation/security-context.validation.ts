import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../../../base/machinery/names.js';
import type { PodSpec } from '../pod-spec.types.js';
import type {
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  Sysctl,
  WindowsSecurityContextOptions,
} from '../security-context.types.js';
import { checkId, checkLocalDescendingPath, checkOneOf, checkText } from './common.validation.js';
import { validateHostUsers } from './pod-os.validation.js';

const maxSysctlLength = 253;
const sysctlFormat = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const sysctlSegment = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const profileTypes: readonly string[] = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const maxCredentialSpecBytes = 64 * 1024;
const maxAppArmorProfileLength = 4095;

/** Validates a container's security settings, if set. */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  hostUsers: boolean | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (context === undefined) return;
  checkId(context.runAsUser, path.child('runAsUser'), errors);
  checkId(context.runAsGroup, path.child('runAsGroup'), errors);
  if (context.procMount !== undefined) {
    checkOneOf(context.procMount, ['Default', 'Unmasked'], path.child('procMount'), errors);
  }
  validateSeccomp(context.seccompProfile, path.child('seccompProfile'), errors);
  validateAppArmor(context.appArmorProfile, path.child('appArmorProfile'), errors);
  if (context.procMount === 'Unmasked' && hostUsers !== false) {
    errors.push(invalid(path.child('procMount'), 'Unmasked', '`hostUsers` must be false to use `Unmasked`'));
  }
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
      errors.push(invalid(path, context, detail));
    }
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
      errors.push(invalid(path, context, detail));
    }
  }
  validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'), errors);
}

/** Validates the security settings that a whole pod shares, and the use of the host's namespaces. */
export function validatePodSecurity(spec: PodSpec, specPath: FieldPath, errors: FieldError[]): void {
  const context = spec.securityContext;
  if (context === undefined) return;
  const path = specPath.child('securityContext');
  if (spec.hostNetwork === true) checkHostPorts(spec, specPath.child('containers'), errors);
  checkId(context.fsGroup, path.child('fsGroup'), errors);
  checkId(context.runAsUser, path.child('runAsUser'), errors);
  checkId(context.runAsGroup, path.child('runAsGroup'), errors);
  context.supplementalGroups?.forEach((group, i) => {
    checkId(group, path.child('supplementalGroups').index(i), errors);
  });
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalid(specPath.child('shareProcessNamespace'), true, detail));
  }
  validateHostUsers(spec, specPath, errors);
  validateSysctls(context.sysctls ?? [], path.child('sysctls'), spec, errors);
  if (context.fsGroupChangePolicy !== undefined) {
    checkOneOf(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], path.child('fsGroupChangePolicy'), errors);
  }
  validateAppArmor(context.appArmorProfile, path.child('appArmorProfile'), errors);
  if (context.supplementalGroupsPolicy !== undefined) {
    const at = path.child('supplementalGroupsPolicy');
    checkOneOf(context.supplementalGroupsPolicy, ['Merge', 'Strict'], at, errors);
  }
  if (context.seLinuxChangePolicy !== undefined) {
    checkOneOf(context.seLinuxChangePolicy, ['MountOption', 'Recursive'], path.child('seLinuxChangePolicy'), errors);
  }
  validateSeccomp(context.seccompProfile, path.child('seccompProfile'), errors);
  validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'), errors);
}

function checkHostPorts(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  spec.containers?.forEach((container, i) => {
    container.ports?.forEach((port, j) => {
      // A template leaves the port to the pods that are made from it.
      if (!port.hostPort || port.hostPort === port.containerPort) return;
      const at = path.index(i).child('ports').index(j).child('hostPort');
      errors.push(invalid(at, port.hostPort, 'must match `containerPort` when `hostNetwork` is true'));
    });
  });
}

function validateSysctls(sysctls: readonly Sysctl[], path: FieldPath, spec: PodSpec, errors: FieldError[]): void {
  const names = new Set<string>();
  sysctls.forEach(({ name }, i) => {
    const at = path.index(i).child('name');
    if (name === '') errors.push(required(at));
    else if (name.length > maxSysctlLength || !name.split(/[./]/).every((part) => sysctlSegment.test(part))) {
      const detail = `must have at most ${maxSysctlLength} characters and match regex ${sysctlFormat}`;
      errors.push(invalid(at, name, detail));
    } else if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
    const host = sharedWithHost(name, spec);
    if (host !== undefined) errors.push(invalid(at, name, `may not be specified when '${host}' is true`));
  });
}

/** The field by which the pod shares the kernel setting with its node, which it must not change. */
function sharedWithHost(name: string, { hostIPC, hostNetwork }: PodSpec): string | undefined {
  const dotted = name.replaceAll('/', '.');
  if (hostIPC === true && /^(kernel\.(shm|msg)|kernel\.sem$|fs\.mqueue\.)/.test(dotted)) return 'hostIPC';
  return hostNetwork === true && dotted.startsWith('net.') ? 'hostNetwork' : undefined;
}

function validateSeccomp(profile: SeccompProfile | undefined, path: FieldPath, errors: FieldError[]): void {
  if (profile === undefined) return;
  checkProfileType(profile.type, 'type is required when seccompProfile is set', path.child('type'), errors);
  const file = path.child('localhostProfile');
  if (profile.type === 'Localhost') {
    if (profile.localhostProfile === undefined) {
      errors.push(required(file, 'must be set when seccomp type is Localhost'));
    } else checkLocalDescendingPath(profile.localhostProfile, file, errors);
  } else if (profile.localhostProfile !== undefined) {
    errors.push(invalid(file, profile, 'can only be set when seccomp type is Localhost'));
  }
}

function validateAppArmor(profile: AppArmorProfile | undefined, path: FieldPath, errors: FieldError[]): void {
  if (profile === undefined) return;
  const name = profile.localhostProfile;
  const at = path.child('localhostProfile');
  if (profile.type === 'Localhost') {
    if (!name?.trim()) errors.push(required(at, 'must be set when AppArmor type is Localhost'));
    else if (name !== name.trim()) errors.push(invalid(at, name, 'must not be padded with whitespace'));
    else if (name.length > maxAppArmorProfileLength) {
      errors.push(invalid(at, name.slice(0, 64), `must be no more than ${maxAppArmorProfileLength} characters`));
    }
    return;
  }
  checkProfileType(profile.type, 'type is required when appArmorProfile is set', path.child('type'), errors);
  if (name !== undefined && profileTypes.includes(profile.type)) {
    errors.push(invalid(at, name, 'can only be set when AppArmor type is Localhost'));
  }
}

function checkProfileType(type: string, requiredDetail: string, path: FieldPath, errors: FieldError[]): void {
  if (type === '') errors.push(required(path, requiredDetail));
  else if (!profileTypes.includes(type)) errors.push(notSupported(path, type, profileTypes));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

function validateWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (options === undefined) return;
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined) {
    checkText(gmsaCredentialSpecName, isDns1123Subdomain, path.child('gmsaCredentialSpecName'), errors);
  }
  if (gmsaCredentialSpec !== undefined) {
    const at = path.child('gmsaCredentialSpec');
    if (gmsaCredentialSpec === '') errors.push(invalid(at, '', 'gmsaCredentialSpec cannot be an empty string'));
    else if (Buffer.byteLength(gmsaCredentialSpec) > maxCredentialSpecBytes) {
      errors.push(invalid(at, '', 'gmsaCredentialSpec size must be under 64 KiB'));
    }
  }
  if (runAsUserName === undefined) return;
  const at = path.child('runAsUserName');
  if (runAsUserName === '') errors.push(invalid(at, '', 'runAsUserName cannot be an empty string'));
  else if (controlCharacters.test(runAsUserName)) {
    errors.push(invalid(at, runAsUserName, 'runAsUserName cannot contain control characters'));
  } else if (runAsUserName.split('\\').length > 2) {
    errors.push(invalid(at, runAsUserName, 'runAsUserName cannot contain more than one backslash'));
  } else {
    for (const rule of brokenWindowsNameRules(runAsUserName)) {
      errors.push(invalid(at, runAsUserName, `runAsUserName's ${rule}`));
    }
  }
}

const maxWindowsDomainLength = 256;
const maxWindowsUserLength = 104;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const windowsDnsName = /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/;

/** The rules that a user name of Windows breaks, which may begin with a domain and a backslash. */
function brokenWindowsNameRules(name: string): string[] {
  const rules: string[] = [];
  const [first = '', second] = name.split('\\');
  const user = second ?? first;
  if (second !== undefined) {
    if (first.length >= maxWindowsDomainLength) {
      rules.push(`Domain length must be under ${maxWindowsDomainLength} characters`);
    }
    if (!netBiosName.test(first) && !windowsDnsName.test(first)) {
      rules.push("Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (user === '') rules.push('User cannot be empty');
  else if (user.length > maxWindowsUserLength) {
    rules.push(`User length must not be longer than ${maxWindowsUserLength} characters`);
  }
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    rules.push('User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  if (/^[. ]+$/.test(user)) rules.push('User cannot contain only periods or spaces');
  return rules;
}
