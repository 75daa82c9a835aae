import { parseTime } from '../../../base/machinery/values/time.js';
import type { DeviceTaint } from '../../../objects/apis/resource/v1/device-taint.types.js';
import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import type { DeviceRequestAllocationResult } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import { poolId, type StoredSlice } from '../../scheduler/devices/device-objects.js';
import { isRuleFor, toleratesTaint } from '../../scheduler/devices/tainted-devices.js';
import type { StoredPod } from '../frame/indexes.js';
import { claimKeysOf, isClaimOfPod, type StoredResourceClaim } from '../resource-claim/pod-claims.js';

/** When pods have to leave their devices, in milliseconds since 1970, and the uids of the rules that demand it. */
export interface DeviceEviction {
  readonly at: number;
  readonly rules: ReadonlySet<string>;
}

/** The cached objects that decide about evictions. */
export interface EvictionObjects {
  readonly claim: (namespace: string, name: string) => StoredResourceClaim | undefined;
  readonly slicesOfPool: (id: string) => Iterable<StoredSlice>;
}

/** A rule with its identity. */
export type StoredRule = DeviceTaintRule & { readonly metadata?: { readonly uid?: string } };

/**
 * When a pod has to leave because of taints of its devices: at once for one that its claim does not tolerate, after the
 * shortest time for which it tolerates one, or never (undefined).
 *
 * @param seenAt the time of taints that have none
 */
export function evictionOf(
  pod: Readonly<StoredPod>,
  rules: readonly StoredRule[],
  objects: EvictionObjects,
  seenAt: number,
): DeviceEviction | undefined {
  if (!pod.spec.nodeName) return undefined;
  let found: { at: number; rules: Set<string> } | undefined;
  const meet = (at: number, rule: StoredRule | undefined) => {
    found ??= { at, rules: new Set() };
    found.at = Math.min(found.at, at);
    if (rule?.metadata?.uid !== undefined) found.rules.add(rule.metadata.uid);
  };
  for (const claim of claimsOf(pod, objects)) {
    for (const result of claim.status.allocation?.devices.results ?? []) {
      for (const [taint, rule] of drivingTaints(result, rules, objects)) {
        const at = leavesAt(taint, result, seenAt);
        if (at !== undefined) meet(at, rule);
      }
    }
  }
  return found;
}

/** The claims that are reserved for a pod. */
function claimsOf(pod: Readonly<StoredPod>, { claim: find }: EvictionObjects): readonly StoredResourceClaim[] {
  const { uid = '' } = pod.metadata;
  const made = new Set((pod.status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName));
  return claimKeysOf(pod).flatMap((key) => {
    const [namespace = '', name = ''] = key.split('/');
    const claim = find(namespace, name);
    if (claim === undefined || (made.has(name) && !isClaimOfPod(claim, pod))) return [];
    return (claim.status.reservedFor ?? []).some((user) => user.uid === uid) ? [claim] : [];
  });
}

/** The taints of a device that evict: its own, and those of rules. */
function* drivingTaints(
  { driver, pool, device }: DeviceRequestAllocationResult,
  rules: readonly StoredRule[],
  { slicesOfPool }: EvictionObjects,
): Iterable<readonly [DeviceTaint, StoredRule | undefined]> {
  const published = newest(slicesOfPool(poolId(driver, pool)))
    .flatMap(({ spec }) => spec.devices ?? [])
    .find(({ name }) => name === device);
  for (const taint of published?.taints ?? []) if (taint.effect === 'NoExecute') yield [taint, undefined];
  for (const rule of rules) {
    if (rule.spec.taint.effect === 'NoExecute' && isRuleFor(rule, { driver, pool, device }))
      yield [rule.spec.taint, rule];
  }
}

/** The slices of the newest generation of a pool. */
export function newest(slices: Iterable<StoredSlice>): readonly StoredSlice[] {
  const all = [...slices];
  const generation = Math.max(...all.map(({ spec }) => Number(spec.pool.generation)));
  return all.filter(({ spec }) => Number(spec.pool.generation) === generation);
}

function leavesAt(
  taint: DeviceTaint,
  { tolerations = [] }: DeviceRequestAllocationResult,
  seenAt: number,
): number | undefined {
  const since = taint.timeAdded ? parseTime(taint.timeAdded) : seenAt;
  const fitting = tolerations.filter((each) => each.effect === 'NoExecute' && toleratesTaint(each, taint));
  if (fitting.length === 0) return since;
  if (fitting.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return undefined;
  const seconds = Math.min(...fitting.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds))));
  return since + 1000 * seconds;
}
