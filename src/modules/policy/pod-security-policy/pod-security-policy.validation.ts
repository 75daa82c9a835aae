import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import {
  fsType,
  type PodSecurityPolicy,
  type PodSecurityPolicySpec,
} from '../../../objects/apis/policy/v1beta1/pod-security-policy.types.js';
import { validateSecurityAnnotations } from './security-annotations.validation.js';
import { validateSysctlOverlaps, validateSysctlPatterns } from './sysctl-patterns.validation.js';

const specPath = FieldPath.of('spec');
const runAsUserRules = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'];
const runAsGroupRules = ['MustRunAs', 'RunAsAny', 'MayRunAs'];
const seLinuxRules = ['MustRunAs', 'RunAsAny'];
const groupRules = ['MayRunAs', 'MustRunAs', 'RunAsAny'];
const maxDriverNameLength = 63;

/** Validates a PodSecurityPolicy, new or changed. */
export function validatePodSecurityPolicy(policy: PodSecurityPolicy, names: VendorNames): FieldError[] {
  const { spec } = policy;
  const errors = validateSecurityAnnotations(policy.metadata.annotations ?? {}, names);
  validateStrategies(spec, errors);
  for (const type of spec.volumes ?? []) {
    if (!(fsType.values as readonly string[]).includes(type)) {
      errors.push(notSupported(specPath.child('volumes'), type, fsType.values));
    }
  }
  validateCapabilities(spec, errors);
  validatePrivilegeEscalation(spec, errors);
  const allowedSysctls = specPath.child('allowedUnsafeSysctls');
  const forbiddenSysctls = specPath.child('forbiddenSysctls');
  const allowed = spec.allowedUnsafeSysctls ?? [];
  const denied = spec.forbiddenSysctls ?? [];
  errors.push(...validateSysctlPatterns(allowed, allowedSysctls));
  errors.push(...validateSysctlPatterns(denied, forbiddenSysctls));
  errors.push(...validateSysctlOverlaps(allowedSysctls, forbiddenSysctls, allowed, denied));
  validateAllowedThings(spec, errors);
  validateRuntimeClasses(spec, errors);
  return errors;
}

function validateStrategies(spec: PodSecurityPolicySpec, errors: FieldError[]): void {
  const { runAsUser, runAsGroup, seLinux, supplementalGroups, fsGroup } = spec;
  validateRule(runAsUser, runAsUserRules, specPath.child('runAsUser'), errors);
  if (runAsGroup !== undefined) validateRule(runAsGroup, runAsGroupRules, specPath.child('runAsGroup'), errors);
  validateRule(seLinux, seLinuxRules, specPath.child('seLinux'), errors);
  validateRule(supplementalGroups, groupRules, specPath.child('supplementalGroups'), errors);
  validateRule(fsGroup, groupRules, specPath.child('fsGroup'), errors);
}

interface Strategy {
  readonly rule?: string;
  readonly ranges?: readonly { readonly min: number; readonly max: number }[];
}

function validateRule(strategy: Strategy, rules: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const rule = strategy.rule ?? '';
  if (!rules.includes(rule)) errors.push(notSupported(path.child('rule'), rule, rules));
  for (const [i, { min, max }] of (strategy.ranges ?? []).entries()) {
    const at = path.child('ranges').index(i);
    if (min < 0) errors.push(invalid(at.child('min'), min, 'min cannot be negative'));
    if (max < 0) errors.push(invalid(at.child('max'), max, 'max cannot be negative'));
    if (min > max) errors.push(invalid(at.child('min'), min, 'min cannot be greater than max'));
  }
}

function validateCapabilities(spec: PodSecurityPolicySpec, errors: FieldError[]): void {
  const dropped = spec.requiredDropCapabilities ?? [];
  const added = spec.defaultAddCapabilities ?? [];
  const allowed = spec.allowedCapabilities ?? [];
  if (dropped.length > 0 && allowed.includes('*')) {
    const detail = 'must be empty when all capabilities are allowed by a wildcard';
    errors.push(invalid(FieldPath.of('requiredDropCapabilities'), dropped, detail));
  }
  for (const [field, list] of [
    ['defaultAddCapabilities', added],
    ['allowedCapabilities', allowed],
  ] as const) {
    for (const capability of list) {
      if (!dropped.includes(capability)) continue;
      const detail = `capability is listed in ${field} and requiredDropCapabilities`;
      errors.push(invalid(FieldPath.of(field), capability, detail));
    }
  }
}

function validatePrivilegeEscalation(spec: PodSecurityPolicySpec, errors: FieldError[]): void {
  if (spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false) {
    const detail =
      'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
    errors.push(invalid(specPath.child('defaultAllowPrivilegeEscalation'), true, detail));
  }
}

function validateAllowedThings(spec: PodSecurityPolicySpec, errors: FieldError[]): void {
  for (const [i, { pathPrefix }] of (spec.allowedHostPaths ?? []).entries()) {
    const at = specPath.child('allowedHostPaths').index(i);
    if ((pathPrefix ?? '') === '') errors.push(required(at, 'is required'));
  }
  const flexPath = specPath.child('allowedFlexVolumes').child('allowedFlexVolumes');
  for (const [i, { driver }] of (spec.allowedFlexVolumes ?? []).entries()) {
    if (driver === '') errors.push(required(flexPath.index(i).child('driver'), 'must specify a driver'));
  }
  const csiPath = specPath.child('allowedCSIDrivers').child('allowedCSIDriver');
  for (const [i, { name }] of (spec.allowedCSIDrivers ?? []).entries()) {
    const at = csiPath.index(i).child('name');
    if (name === '') errors.push(required(at));
    if (name.length > maxDriverNameLength)
      errors.push(invalid(at, name, `must be no more than ${maxDriverNameLength} characters`));
    for (const m of isDns1123Subdomain(name.toLowerCase())) errors.push(invalid(at, name, m));
  }
}

function validateRuntimeClasses(spec: PodSecurityPolicySpec, errors: FieldError[]): void {
  if (spec.runtimeClass === undefined) return;
  const path = specPath.child('runtimeClass');
  const allowed = spec.runtimeClass.allowedRuntimeClassNames ?? [];
  const allowedPath = path.child('allowedRuntimeClassNames');
  const seen = new Set<string>();
  for (const [i, name] of allowed.entries()) {
    if (name !== '*') for (const m of isDns1123Subdomain(name)) errors.push(invalid(allowedPath.index(i), name, m));
    if (seen.has(name)) errors.push(duplicate(allowedPath.index(i), name));
    seen.add(name);
  }
  if (seen.has('*') && allowed.length > 1) {
    errors.push(invalid(allowedPath, allowed, "if '*' is present, must not specify other RuntimeClass names"));
  }
  const preset = spec.runtimeClass.defaultRuntimeClassName;
  if (preset === undefined) return;
  const presetPath = path.child('defaultRuntimeClassName');
  for (const m of isDns1123Subdomain(preset)) errors.push(invalid(presetPath, preset, m));
  if (!seen.has('*') && !seen.has(preset)) {
    errors.push(required(allowedPath, `default ${JSON.stringify(preset)} must be allowed`));
  }
}
