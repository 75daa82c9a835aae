import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import type { Pressure } from '../node/node-status.js';
import { podRequest } from '../pods/pod-admission.js';

/** A resource that can run short: its capacity and what is available. */
export type EvictionSignal =
  | 'memory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

export type Observations = Readonly<
  Partial<Record<EvictionSignal, { readonly capacity: number; readonly available: number }>>
>;

/** The amount below which the resource is short. */
export interface Threshold {
  readonly signal: EvictionSignal;
  readonly percent: number | undefined;
  readonly amount: number;
  /**
   * How long a shortage may last before pods are ended, with a grace period (soft threshold); undefined: a hard
   * threshold.
   */
  readonly graceMs?: number | undefined;
  /** How far the amount must rise above the threshold before the shortage is over, once pods were ended. */
  readonly reclaim?: { readonly percent: number | undefined; readonly amount: number } | undefined;
}

/** Parses `memory.available<100Mi`. */
export function readThreshold(text: string): Threshold {
  const [signal = '', value = '0'] = text.split('<');
  return { signal: signal as EvictionSignal, ...readAmount(value) };
}

/** Parses `10%` and `100Mi`. */
export function readAmount(value: string): { readonly percent: number | undefined; readonly amount: number } {
  const isPercent = value.endsWith('%');
  return { percent: isPercent ? Number(value.slice(0, -1)) : undefined, amount: isPercent ? 0 : quantityValue(value) };
}

const pressureOf: Readonly<Record<EvictionSignal, Pressure>> = {
  'memory.available': 'MemoryPressure',
  'nodefs.available': 'DiskPressure',
  'nodefs.inodesFree': 'DiskPressure',
  'imagefs.available': 'DiskPressure',
  'imagefs.inodesFree': 'DiskPressure',
  'pid.available': 'PIDPressure',
};

const resourceOf: Readonly<Record<EvictionSignal, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

/** A passed threshold, with amounts in bytes, inodes or processes. */
export interface Shortage {
  readonly signal: EvictionSignal;
  readonly pressure: Pressure;
  readonly resource: string;
  readonly threshold: number;
  readonly available: number;
  /** The rule that is broken. */
  readonly rule: Threshold;
}

/**
 * The thresholds that are passed. @param reclaiming those whose shortage ends only at a higher amount than the
 * threshold
 */
export function shortages(
  thresholds: readonly Threshold[],
  seen: Observations,
  reclaiming: ReadonlySet<Threshold> = new Set(),
): Shortage[] {
  return thresholds.flatMap((rule) => {
    const { signal, reclaim } = rule;
    const found = seen[signal];
    if (found === undefined) return [];
    const threshold = amountOf(rule, found.capacity);
    const more = reclaim !== undefined && reclaiming.has(rule) ? amountOf(reclaim, found.capacity) : 0;
    if (threshold === 0 || found.available >= threshold + more) return [];
    const { available } = found;
    return [{ signal, pressure: pressureOf[signal], resource: resourceOf[signal], threshold, available, rule }];
  });
}

function amountOf({ percent, amount }: Pick<Threshold, 'percent' | 'amount'>, capacity: number): number {
  return percent === undefined ? amount : (capacity * percent) / 100;
}

/** Pods of this priority and above are never evicted. */
const criticalPriority = 2_000_000_000;

/**
 * The pod to evict first: one that exceeds its request before one that doesn't, then the one of least priority, then
 * the one that exceeds its request most. Undefined if none may be evicted.
 *
 * @param usageOf bytes of the scarce resource that a pod uses
 */
export function podToEvict(
  pods: readonly Pod[],
  resource: string,
  usageOf: (pod: Pod) => number,
  isStatic: (pod: Pod) => boolean,
): Pod | undefined {
  const ranked = pods
    .filter((pod) => !isStatic(pod) && (pod.spec.priority ?? 0) < criticalPriority)
    .map((pod) => {
      const request = resource === 'memory' || resource === 'ephemeral-storage' ? podRequest(pod, resource) : 0;
      return { pod, excess: usageOf(pod) - request, priority: pod.spec.priority ?? 0 };
    })
    .sort((a, b) => {
      const [overA, overB] = [a.excess > 0, b.excess > 0];
      if (overA !== overB) return overA ? -1 : 1;
      return a.priority - b.priority || b.excess - a.excess;
    });
  return ranked[0]?.pod;
}

/** The message in the status of an evicted pod. */
export function evictionMessage({ resource, threshold, available }: Shortage): string {
  const kibi = (bytes: number) => `${Math.floor(bytes / 1024)}Ki`;
  const amounts =
    resource === 'memory' || resource === 'ephemeral-storage'
      ? [kibi(threshold), kibi(available)]
      : [String(threshold), String(available)];
  return `The node was low on resource: ${resource}. Threshold quantity: ${amounts[0]}, available: ${amounts[1]}. `;
}

/**
 * A node that is short of memory refuses best-effort pods; one that is short of disk space or process ids refuses all
 * pods that are not critical.
 */
export function isRefusedUnder(pressures: ReadonlySet<Pressure>, pod: Pod): boolean {
  if ((pod.spec.priority ?? 0) >= criticalPriority || pressures.size === 0) return false;
  if (pressures.has('DiskPressure') || pressures.has('PIDPressure')) return true;
  return podQosClass(pod.spec) === 'BestEffort';
}
