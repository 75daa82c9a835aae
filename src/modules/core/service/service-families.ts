import { isDeepStrictEqual } from 'node:util';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { needsClusterIp } from './service.rules.js';
import { familyOf, type IpFamilyName, isOpen } from './service-addresses.validation.js';

/**
 * Sets the policy and the address families of a service that leaves them out. Whatever is wrong stays, to be refused.
 *
 * @param old the service before the change; undefined for a new one
 * @param families the families of the cluster's ranges, the preferred one first
 */
export function chooseFamilies(object: Service, old: Service | undefined, families: readonly IpFamilyName[]): void {
  const { spec } = object;
  if (!needsClusterIp(object)) return;
  const takesAny = isOpen(object);
  spec.ipFamilyPolicy ??= takesAny ? 'RequireDualStack' : 'SingleStack';
  const isSingle = spec.ipFamilyPolicy === 'SingleStack';
  if (isSingle && old !== undefined) dropSecond(object, old);
  const count = spec.ipFamilies?.length ?? 0;
  // The rules refuse to give one up without the policy.
  if (!isSingle && count > 0 && count < (old?.spec.ipFamilies?.length ?? 0)) return;
  if (!nameFamilies(object, families, isSingle ? 1 : 2)) return;
  if ((spec.ipFamilies ?? []).length === 0) spec.ipFamilies = families.slice(0, 1);
  const [first, second] = spec.ipFamilies ?? [];
  const mayHaveBoth = takesAny || families.length > 1;
  if (isSingle || second !== undefined || !mayHaveBoth) return;
  if (first === 'IPv4') spec.ipFamilies = ['IPv4', 'IPv6'];
  else if (first === 'IPv6') spec.ipFamilies = ['IPv6', 'IPv4'];
}

/**
 * Whether a service that prefers two families keeps its families in a change: it does not get a second one only because
 * the cluster now has two, and it loses none.
 */
export function keepsPreference({ spec }: Service, { spec: old }: Service): boolean {
  const prefers =
    spec.ipFamilyPolicy === 'PreferDualStack' && (old.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack';
  if (!prefers || spec.type !== old.type || spec.type === 'ExternalName') return false;
  const ips = (spec.clusterIPs ?? []).length > 0 ? spec.clusterIPs : old.clusterIPs;
  return (
    isDeepStrictEqual(ips ?? [], old.clusterIPs ?? []) && isDeepStrictEqual(spec.ipFamilies ?? [], old.ipFamilies ?? [])
  );
}

/** A service that becomes one of a single family gives up its second address and family, unless the client changed them as well. */
function dropSecond({ spec }: Service, { spec: old }: Service): void {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  if (clusterIPs.length > 1 && isDeepStrictEqual(clusterIPs, old.clusterIPs)) spec.clusterIPs = clusterIPs.slice(0, 1);
  if (ipFamilies.length > 1 && isDeepStrictEqual(ipFamilies, old.ipFamilies)) spec.ipFamilies = ipFamilies.slice(0, 1);
}

/** Names the families of addresses that the client chose. @returns false for an address that the cluster can't have */
function nameFamilies({ spec }: Service, families: readonly IpFamilyName[], most: number): boolean {
  const named = [...(spec.ipFamilies ?? [])];
  for (const ip of (spec.clusterIPs ?? []).slice(named.length, most)) {
    if (ip === 'None') break;
    const family = familyOf(ip);
    if (family === undefined || !families.includes(family) || named.includes(family)) return false;
    named.push(family);
  }
  if (named.length > 0) spec.ipFamilies = named;
  return true;
}
