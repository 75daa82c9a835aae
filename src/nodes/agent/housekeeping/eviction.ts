import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import type { Pressure } from '../node/node-status.js';
import { podRequest } from '../pods/pod-admission.js';

/** What can become short, with what there is of it and what is left. */
export type Signal =
  | 'memory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

export type Observations = Readonly<Partial<Record<Signal, { readonly capacity: number; readonly available: number }>>>;

/** Below which amount something is short. */
export interface Threshold {
  readonly signal: Signal;
  readonly percent: number | undefined;
  readonly amount: number;
  /** How long it may be short before pods end for it, which then have time to do so; undefined: not at all. */
  readonly graceMs?: number | undefined;
  /** How much more than the threshold must be there until the shortage is over, once pods had to end. */
  readonly reclaim?: { readonly percent: number | undefined; readonly amount: number } | undefined;
}

/** `memory.available<100Mi` */
export function readThreshold(text: string): Threshold {
  const [signal = '', value = '0'] = text.split('<');
  return { signal: signal as Signal, ...readAmount(value) };
}

/** `10%`, `100Mi` */
export function readAmount(value: string): { readonly percent: number | undefined; readonly amount: number } {
  const isPercent = value.endsWith('%');
  return { percent: isPercent ? Number(value.slice(0, -1)) : undefined, amount: isPercent ? 0 : quantityValue(value) };
}

const pressureOf: Readonly<Record<Signal, Pressure>> = {
  'memory.available': 'MemoryPressure',
  'nodefs.available': 'DiskPressure',
  'nodefs.inodesFree': 'DiskPressure',
  'imagefs.available': 'DiskPressure',
  'imagefs.inodesFree': 'DiskPressure',
  'pid.available': 'PIDPressure',
};

const resourceOf: Readonly<Record<Signal, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

/** A threshold that is passed, in bytes, files or processes. */
export interface Shortage {
  readonly signal: Signal;
  readonly pressure: Pressure;
  readonly resource: string;
  readonly threshold: number;
  readonly available: number;
  /** The rule that is broken. */
  readonly rule: Threshold;
}

/** The thresholds that are passed. @param reclaiming those of which more must come back than they say */
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

/** Remembers since when thresholds are passed. */
export class Shortages {
  private readonly since = new Map<Threshold, number>();
  private reclaiming: ReadonlySet<Threshold> = new Set();

  constructor(private readonly thresholds: readonly Threshold[]) {}

  /** The thresholds that are passed now. */
  look(seen: Observations, now: number): Shortage[] {
    const found = shortages(this.thresholds, seen, this.reclaiming);
    const rules = new Set(found.map(({ rule }) => rule));
    for (const rule of this.since.keys()) if (!rules.has(rule)) this.since.delete(rule);
    for (const rule of rules) if (!this.since.has(rule)) this.since.set(rule, now);
    const due = this.due(found, now);
    this.reclaiming = new Set(due.map(({ rule }) => rule));
    return found;
  }

  /** Those for which pods must end, memory first. */
  due(found: readonly Shortage[], now: number): Shortage[] {
    return found
      .filter(({ rule }) => now - (this.since.get(rule) ?? now) >= (rule.graceMs ?? 0))
      .sort((a, b) => Number(b.signal === 'memory.available') - Number(a.signal === 'memory.available'));
  }
}

/** Conditions stay for a while after what they tell of has passed. */
export class Pressures {
  private readonly lastSeen = new Map<Pressure, number>();

  constructor(private readonly transitionMs: number) {}

  take(found: readonly Shortage[], now: number): ReadonlySet<Pressure> {
    for (const { pressure } of found) this.lastSeen.set(pressure, now);
    for (const [pressure, at] of this.lastSeen) if (now - at > this.transitionMs) this.lastSeen.delete(pressure);
    return new Set(this.lastSeen.keys());
  }
}

/** Pods of this priority and above are never ended for others. */
const criticalPriority = 2_000_000_000;

/**
 * The pod to end first: one that uses more than it asked for before one that doesn't, then the least important one, then the
 * one that is furthest above its request. Undefined if none may be ended.
 *
 * @param usageOf bytes that a pod uses of what is short
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

/** What the status of an ended pod says. */
export function evictionMessage({ resource, threshold, available }: Shortage): string {
  const kibi = (bytes: number) => `${Math.floor(bytes / 1024)}Ki`;
  const amounts =
    resource === 'memory' || resource === 'ephemeral-storage'
      ? [kibi(threshold), kibi(available)]
      : [String(threshold), String(available)];
  return `The node was low on resource: ${resource}. Threshold quantity: ${amounts[0]}, available: ${amounts[1]}. `;
}

/** A pod that asks for too little is not admitted while the node is short of memory. */
export function isRefusedUnder(pressures: ReadonlySet<Pressure>, pod: Pod): boolean {
  if ((pod.spec.priority ?? 0) >= criticalPriority || pressures.size === 0) return false;
  if (pressures.has('DiskPressure') || pressures.has('PIDPressure')) return true;
  return podQosClass(pod.spec) === 'BestEffort';
}
