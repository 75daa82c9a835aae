import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../../../base/machinery/field-error.js';
import { validateLabels } from '../../../../../base/machinery/label-rules.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isDns1123SubdomainWithUnderscore,
  isQualifiedName,
} from '../../../../../base/machinery/names.js';
import type { HostAlias, PodDNSConfig, PodResourceClaim, PodSchedulingGate, PodSpec } from '../pod-spec.types.js';
import { checkOneOf, checkRange, checkText, type PodValidationOptions } from './common.validation.js';
import {
  type ContainerOptions,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './container.validation.js';
import { validateIp, validatePlainIp } from './ip-address.validation.js';
import { validateHostProcess, validatePodOs } from './pod-os.validation.js';
import { validatePodResources } from './pod-resources.validation.js';
import { validateResourceRequirements } from './resources.validation.js';
import { validateAffinity, validateTolerations, validateTopologySpread } from './scheduling.validation.js';
import { validatePodSecurity } from './security-context.validation.js';
import { validateVolumes } from './volume.validation.js';

const restartPolicies: readonly string[] = ['Always', 'OnFailure', 'Never'];
const dnsPolicies: readonly string[] = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const maxNameservers = 3;
const maxSearchPaths = 32;
const maxSearchCharacters = 2048;
const maxInt32 = 2147483647;
/** The longest allowed host name. */
const maxHostnameLength = 64;

/** Validates the spec of a pod, alone or in a template. `spec` has its defaults. */
export function validatePodSpec(spec: PodSpec, path: FieldPath, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  const containers = spec.containers ?? [];
  const initContainers = spec.initContainers ?? [];
  const volumes = validateVolumes(spec.volumes ?? [], path.child('volumes'), errors);
  if (spec.resourceClaims !== undefined) validateClaims(spec.resourceClaims, path.child('resourceClaims'), errors);
  const ofContainers: ContainerOptions = {
    ...options,
    graceSeconds: Number(spec.terminationGracePeriodSeconds ?? 0),
    hostUsers: spec.hostUsers,
    claims: [...new Set((spec.resourceClaims ?? []).map(({ name }) => name))],
  };
  validateContainers(containers, volumes, path.child('containers'), ofContainers, errors);
  validateInitContainers(initContainers, containers, volumes, path.child('initContainers'), ofContainers, errors);
  if (spec.ephemeralContainers !== undefined) {
    const others = [...containers, ...initContainers];
    const at = path.child('ephemeralContainers');
    validateEphemeralContainers(spec.ephemeralContainers, others, volumes, at, ofContainers, errors);
  }
  checkPolicy(spec.restartPolicy, restartPolicies, path.child('restartPolicy'), errors);
  checkPolicy(spec.dnsPolicy, dnsPolicies, path.child('dnsPolicy'), errors);
  if (spec.nodeSelector !== undefined) errors.push(...validateLabels(spec.nodeSelector, path.child('nodeSelector')));
  validatePodSecurity(spec, path, errors);
  validateAffinity(spec.affinity, path.child('affinity'), errors);
  validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, path.child('dnsConfig'), errors);
  spec.readinessGates?.forEach(({ conditionType }, i) => {
    checkText(conditionType, isQualifiedName, path.child('readinessGates').index(i).child('conditionType'), errors);
  });
  if (spec.schedulingGates !== undefined) {
    validateSchedulingGates(spec.schedulingGates, path.child('schedulingGates'), errors);
  }
  if (spec.topologySpreadConstraints !== undefined) {
    validateTopologySpread(spec.topologySpreadConstraints, path.child('topologySpreadConstraints'), errors);
  }
  validateNames(spec, path, errors);
  if (spec.tolerations !== undefined) validateTolerations(spec.tolerations, path.child('tolerations'), errors);
  if (spec.hostAliases !== undefined) validateHostAliases(spec.hostAliases, path.child('hostAliases'), errors);
  validateScheduling(spec, path, options, errors);
  validateHostProcess(spec, path, errors);
  validatePodOs(spec, path, errors);
  return errors;
}

function checkPolicy(
  value: string | undefined,
  allowed: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!value) errors.push(required(path));
  else checkOneOf(value, allowed, path, errors);
}

function validateNames(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, hostname, subdomain } = spec;
  if (serviceAccountName) checkText(serviceAccountName, isDns1123Subdomain, path.child('serviceAccountName'), errors);
  if (nodeName) checkText(nodeName, isDns1123Subdomain, path.child('nodeName'), errors);
  if (activeDeadlineSeconds !== undefined) {
    checkRange(activeDeadlineSeconds, 1, maxInt32, path.child('activeDeadlineSeconds'), errors);
  }
  if (hostname) checkText(hostname, isDns1123Label, path.child('hostname'), errors);
  validateHostnameOverride(spec, path.child('hostnameOverride'), errors);
  if (subdomain) checkText(subdomain, isDns1123Label, path.child('subdomain'), errors);
}

function validateHostnameOverride(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const name = spec.hostnameOverride;
  if (name === undefined) return;
  if (spec.setHostnameAsFQDN === true) {
    errors.push(forbidden(path, 'may not be specified when setHostnameAsFQDN is true'));
  }
  if (spec.hostNetwork === true) errors.push(forbidden(path, 'may not be specified when hostNetwork is true'));
  if (name.length > maxHostnameLength) errors.push(tooLong(path, maxHostnameLength));
  checkText(name, isDns1123Subdomain, path, errors);
}

function validateScheduling(spec: PodSpec, path: FieldPath, options: PodValidationOptions, errors: FieldError[]): void {
  const { priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (priorityClassName) checkText(priorityClassName, isDns1123Subdomain, path.child('priorityClassName'), errors);
  if (runtimeClassName !== undefined) {
    checkText(runtimeClassName, isDns1123Subdomain, path.child('runtimeClassName'), errors);
  }
  if (preemptionPolicy !== undefined) {
    checkPolicy(preemptionPolicy, ['PreemptLowerPriority', 'Never'], path.child('preemptionPolicy'), errors);
  }
  if (overhead !== undefined) {
    validateResourceRequirements({ limits: overhead }, path.child('overhead'), options, errors);
  }
  if (spec.resources !== undefined) {
    validatePodResources(spec, path.child('resources'), options, errors);
  }
}

function validateDnsConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const nameservers = config?.nameservers ?? [];
  const at = path.child('nameservers');
  if (policy === 'None') {
    if (config === undefined) {
      errors.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'));
      return;
    }
    if (nameservers.length === 0) {
      errors.push(required(at, 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
      return;
    }
  }
  if (config === undefined) return;
  if (nameservers.length > maxNameservers) {
    errors.push(invalid(at, nameservers, `must not have more than ${maxNameservers} nameservers`));
  }
  nameservers.forEach((server, i) => {
    errors.push(...validateIp(server, at.index(i)));
  });
  validateSearches(config.searches ?? [], path.child('searches'), errors);
  config.options?.forEach(({ name }, i) => {
    if (!name) errors.push(required(path.child('options').index(i), 'must not be empty'));
  });
}

function validateSearches(searches: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (searches.length > maxSearchPaths) {
    errors.push(invalid(path, searches, `must not have more than ${maxSearchPaths} search paths`));
  }
  if (searches.join(' ').length > maxSearchCharacters) {
    const detail = `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`;
    errors.push(invalid(path, searches, detail));
  }
  searches.forEach((search, i) => {
    if (search === '.') return;
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    for (const message of isDns1123SubdomainWithUnderscore(name)) errors.push(invalid(path.index(i), search, message));
  });
}

function validateHostAliases(aliases: readonly HostAlias[], path: FieldPath, errors: FieldError[]): void {
  aliases.forEach(({ ip, hostnames }, i) => {
    const at = path.index(i);
    errors.push(...validateIp(ip, at.child('ip')));
    hostnames?.forEach((name, j) => {
      checkText(name, isDns1123Subdomain, at.child('hostnames').index(j), errors);
    });
  });
}

function validateSchedulingGates(gates: readonly PodSchedulingGate[], path: FieldPath, errors: FieldError[]): void {
  const names = new Set<string>();
  gates.forEach(({ name }, i) => {
    checkText(name, isQualifiedName, path.index(i), errors);
    if (names.has(name)) errors.push(duplicate(path.index(i), name));
    names.add(name);
  });
}

function validateClaims(claims: readonly PodResourceClaim[], path: FieldPath, errors: FieldError[]): void {
  const names = new Set<string>();
  claims.forEach((claim, i) => {
    const at = path.index(i);
    if (claim.name === '') errors.push(required(at.child('name')));
    else if (names.has(claim.name)) errors.push(duplicate(at.child('name'), claim.name));
    else checkText(claim.name, isDns1123Label, at.child('name'), errors);
    names.add(claim.name);
    const given = [claim.resourceClaimName, claim.resourceClaimTemplateName].filter((n) => n !== undefined);
    const [name, template] = ['`resourceClaimName`', '`resourceClaimTemplateName`'];
    if (given.length === 0) errors.push(invalid(at, claim, `must specify one of: ${name}, ${template}`));
    else if (given.length > 1)
      errors.push(invalid(at, claim, `at most one of ${name} or ${template} may be specified`));
    for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const value = claim[field];
      if (value !== undefined) checkText(value, isDns1123Subdomain, at.child(field), errors);
    }
  });
}

/** Checks that the restart policy of a template is one that its controller allows. */
export function checkTemplateRestartPolicy(
  spec: PodSpec,
  allowed: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const policy = spec.restartPolicy ?? '';
  if (!allowed.includes(policy)) errors.push(notSupported(path.child('restartPolicy'), policy, allowed));
}

/**
 * Checks the addresses that a new pod gives its containers: none is an IPv4 address in the form of an IPv6 one. Not meant
 * for pods that were stored before this rule.
 */
export function validatePlainAddresses({ dnsConfig, hostAliases = [] }: PodSpec, path: FieldPath): FieldError[] {
  const servers = dnsConfig?.nameservers ?? [];
  const isAddress = (ip: string) => validateIp(ip, path).length === 0;
  return [
    ...servers.flatMap((ip, i) => {
      const at = path.child('dnsConfig').child('nameservers').index(i);
      return isAddress(ip) ? validatePlainIp(ip, at, []) : [];
    }),
    ...hostAliases.flatMap(({ ip }, i) => {
      const at = path.child('hostAliases').index(i).child('ip');
      return isAddress(ip) ? validatePlainIp(ip, at, []) : [];
    }),
  ];
}
