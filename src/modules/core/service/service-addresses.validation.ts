import { duplicate, type FieldError, FieldPath, invalid, notSupported } from '../../../base/machinery/field-error.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { validateIp } from '../../../objects/apis/core/v1/validation/ip-address.validation.js';
import { ipFamily } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import { isHeadless } from './service.rules.js';

export type IpFamilyName = 'IPv4' | 'IPv6';

const specPath = FieldPath.of('spec');
const clusterIPsPath = specPath.child('clusterIPs');
const familiesPath = specPath.child('ipFamilies');
const policyPath = specPath.child('ipFamilyPolicy');
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const fixed = 'may not change once set';

/**
 * Validates addresses and their families: first by themselves, then against the service before the change, then against the
 * families that the cluster has. The first group with an error ends it.
 *
 * @param old the service before the change; undefined for a new one
 */
export function validateAddresses(
  object: Service,
  old: Service | undefined,
  families: readonly IpFamilyName[],
): FieldError[] {
  const errors: FieldError[] = [];
  validateClusterIps(object, errors);
  if (errors.length === 0) errors.push(...validateSecond(object, old));
  if (errors.length === 0) errors.push(...unconfiguredFamilies(object, families));
  return errors;
}

/** A second address and family need a policy that allows them, and go with the policy alone. */
function validateSecond({ spec }: Service, old: Service | undefined): FieldError[] {
  const { ipFamilyPolicy: policy, clusterIPs: ips = [], ipFamilies: names = [] } = spec;
  const errors: FieldError[] = [];
  const refuse = (detail: string) => errors.push(invalid(policyPath, policy, detail));
  const isFewer = (now: readonly string[], before: readonly string[] = []) =>
    now.length > 0 && now.length < before.length;
  if (policy !== 'SingleStack') {
    if (isFewer(ips, old?.spec.clusterIPs)) refuse("must be 'SingleStack' to release the secondary cluster IP");
    if (isFewer(names, old?.spec.ipFamilies)) refuse("must be 'SingleStack' to release the secondary IP family");
    return errors;
  }
  const rule = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (ips.length === 2) refuse(`${rule} cluster IPs are specified`);
  if (names.length === 2) refuse(`${rule} IP families are specified`);
  return errors;
}

/**
 * Errors for address families that a service requests and the cluster lacks. A headless service without a selector may
 * request any.
 */
function unconfiguredFamilies(object: Service, families: readonly IpFamilyName[]): FieldError[] {
  const { spec } = object;
  if (isOpen(object)) return [];
  const ips = spec.clusterIPs ?? [];
  for (const [i, ip] of ips.entries()) {
    // Where a family is named, the error is about that field.
    const isNamed = i < (spec.ipFamilies ?? []).length;
    const family = familyOf(ip);
    if (isNamed || ip === 'None' || family === undefined || families.includes(family)) continue;
    return [invalid(clusterIPsPath.index(i), ips, `${family} is not configured on this cluster`)];
  }
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && families.length < 2) {
    const detail = 'this cluster is not configured for dual-stack services';
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, detail));
  }
  spec.ipFamilies?.forEach((name, i) => {
    if ((families as readonly string[]).includes(name)) return;
    errors.push(invalid(familiesPath.index(i), name, 'not configured on this cluster'));
  });
  return errors;
}

/** Whether somebody else decides about the endpoints of a service without an address: it may have any family. */
export function isOpen(object: Service): boolean {
  return isHeadless(object) && Object.keys(object.spec.selector ?? {}).length === 0;
}

/** The family of an address, or undefined for another text. */
export function familyOf(ip: string): IpFamilyName | undefined {
  const family = ipFamily(ip);
  if (family === undefined) return undefined;
  return family === 'ipv4' ? 'IPv4' : 'IPv6';
}

/** Validates that a change keeps the addresses and families of a service: only second ones may come, or go by the policy. */
export function validateKeptAddresses(object: Service, old: Service): FieldError[] {
  const [isNow, was] = [isHeadless(object), isHeadless(old)];
  if (isNow && was) return [];
  const errors = keptAddresses(object, old);
  if (isNow === was) errors.push(...keptFamilies(object, old));
  return errors;
}

function keptAddresses({ spec }: Service, { spec: old }: Service): FieldError[] {
  const { clusterIPs: ips = [], ipFamilyPolicy: policy } = spec;
  const before = old.clusterIPs ?? [];
  if (before.length === ips.length) {
    return before.flatMap((ip, i) => (ip === ips[i] ? [] : [invalid(clusterIPsPath.index(i), ips, fixed)]));
  }
  const errors: FieldError[] = [];
  if (ips.length === 0) errors.push(invalid(clusterIPsPath.index(0), ips, 'primary clusterIP can not be unset'));
  else if (before.length > 0 && ips[0] !== before[0]) errors.push(invalid(clusterIPsPath.index(0), ips, fixed));
  if (before.length > ips.length && ips.length === 1 && policy !== 'SingleStack') {
    errors.push(invalid(policyPath, policy, "must be set to 'SingleStack' when releasing the secondary clusterIP"));
  }
  return errors;
}

function keptFamilies({ spec }: Service, { spec: old }: Service): FieldError[] {
  const { clusterIPs: ips = [], ipFamilies: names = [], ipFamilyPolicy: policy } = spec;
  const before = old.ipFamilies ?? [];
  const path = familiesPath.index(0);
  if (before.length === names.length) {
    return before.flatMap((name, i) => (name === names[i] ? [] : [invalid(path, names, fixed)]));
  }
  const errors: FieldError[] = [];
  const isReleased = before.length > names.length;
  if (isReleased && ips.length === 0) errors.push(invalid(path, names, 'primary ipFamily can not be unset'));
  if (names.length > 0 && before.length > 0 && names[0] !== before[0]) errors.push(invalid(path, ips, fixed));
  if (isReleased && names.length === 1 && policy !== 'SingleStack') {
    errors.push(invalid(policyPath, policy, "must be set to 'SingleStack' when releasing the secondary ipFamily"));
  }
  return errors;
}

/** Validates addresses, families and the policy of a service by themselves. */
export function validateClusterIps(object: Service, errors: FieldError[]): void {
  const { spec } = object;
  const ips = spec.clusterIPs ?? [];
  if (spec.type === 'ExternalName') return;
  if (ips.length > 0 && !spec.clusterIP) {
    errors.push(invalid(clusterIPsPath, ips, 'must be empty when `clusterIP` is not specified'));
  } else if (ips.length > 0 && ips[0] !== spec.clusterIP) {
    errors.push(invalid(clusterIPsPath, ips, 'first value must match `clusterIP`'));
  }
  validateFamilies(object, errors);
  if (ips[0] === 'None') {
    if (ips.length > 1) errors.push(invalid(clusterIPsPath, ips, "'None' must be the first and only value"));
    // The other values are checked as addresses.
    if (ips.length < 2) return;
  }
  const countBefore = errors.length;
  for (const [i, ip] of ips.entries()) {
    if (i === 0 && ip === 'None') continue;
    const path = clusterIPsPath.index(i);
    const wanted = spec.ipFamilies?.[i];
    const broken = validateIp(ip, path);
    errors.push(...broken);
    if (broken.length > 0 || (wanted !== 'IPv4' && wanted !== 'IPv6')) continue;
    if (ipFamily(ip) !== wanted.toLowerCase()) {
      errors.push(invalid(path, ip, `expected an ${wanted} value as indicated by \`ipFamilies[${i}]\``));
    }
  }
  if (ips.length > 2) errors.push(invalid(clusterIPsPath, ips, 'may only hold up to 2 values'));
  const known = new Set(ips.map(ipFamily));
  if (errors.length === countBefore + (ips.length > 2 ? 1 : 0) && known.size < ips.length) {
    errors.push(invalid(clusterIPsPath, ips, 'may specify no more than one IP for each IP family'));
  }
}

function validateFamilies({ spec }: Service, errors: FieldError[]): void {
  const seen = new Set<string>();
  spec.ipFamilies?.forEach((name, i) => {
    const path = familiesPath.index(i);
    if (name !== 'IPv4' && name !== 'IPv6') errors.push(notSupported(path, name, ['IPv4', 'IPv6']));
    if (seen.has(name)) errors.push(duplicate(path, name));
    seen.add(name);
  });
  const policy = spec.ipFamilyPolicy;
  if (policy !== undefined && !familyPolicies.includes(policy)) {
    errors.push(notSupported(policyPath, policy, familyPolicies));
  }
}
