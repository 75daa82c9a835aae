import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { shareOf } from '../../../base/machinery/values/int-or-string.js';
import { parseTime } from '../../../base/machinery/values/time.js';
import type { Condition } from '../../../objects/apis/meta/v1/condition.types.js';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodReady } from '../frame/pod-state.js';

export type StoredBudget = PodDisruptionBudget & ApiObject;

/** How long an evicted pod may take until its deletion begins, in milliseconds; after that the pod counts again. */
const deletionTimeoutMs = 120_000;

/** The pods of a budget, counted. */
export interface Counts {
  readonly expected: number;
  readonly desired: number;
}

/** Whether the bound depends on the number of pods that should exist, not only on existing ones. */
export function needsExpected({ spec }: StoredBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

/** How many pods a budget counts and how many have to be healthy; `expected` is the number that should exist. */
export function budgetCountsOf({ spec }: StoredBudget, expected: number): Counts {
  const { maxUnavailable, minAvailable } = spec;
  if (maxUnavailable !== undefined) {
    return { expected, desired: Math.max(0, expected - shareOf(maxUnavailable, expected, 'up')) };
  }
  return { expected, desired: minAvailable === undefined ? 0 : shareOf(minAvailable, expected, 'up') };
}

/** Evicted pods whose deletion has not begun. */
export interface Leaving {
  /** The times of the evictions, by the names of the pods. */
  readonly pods: Readonly<Record<string, string>>;
  /** Pods whose deletion did not begin in time. */
  readonly stayed: readonly StoredPod[];
  /** How long until the next pod has stayed too long, in milliseconds. */
  readonly nextMs: number | undefined;
}

/** Divides the disrupted pods of a status by whether their deletion may still begin in time. */
export function leavingPods(
  pods: readonly StoredPod[],
  { disruptedPods = {} }: PodDisruptionBudgetStatus,
  now: number,
): Leaving {
  const leaving: Record<string, string> = {};
  const stayed: StoredPod[] = [];
  const waits: number[] = [];
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const since = Object.hasOwn(disruptedPods, name) ? disruptedPods[name] : undefined;
    if (deletionTimestamp !== undefined || !since) continue;
    const wait = parseTime(since) + deletionTimeoutMs - now;
    if (wait <= 0) {
      stayed.push(pod);
      continue;
    }
    leaving[name] = since;
    waits.push(wait);
  }
  return { pods: leaving, stayed, nextMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** Pods that are ready and not being deleted. */
export function healthyPods(pods: readonly StoredPod[], leaving: Leaving): number {
  const isHealthy = (pod: StoredPod) =>
    pod.metadata.deletionTimestamp === undefined &&
    !Object.hasOwn(leaving.pods, pod.metadata.name ?? '') &&
    isPodReady(pod);
  return pods.filter(isHealthy).length;
}

/** The status of a budget (specification 2.6, 3). */
export function budgetStatus(
  { metadata, status: before }: StoredBudget,
  pods: readonly StoredPod[],
  { expected, desired }: Counts,
  now: number,
): PodDisruptionBudgetStatus {
  const leaving = leavingPods(pods, before, now);
  const healthy = healthyPods(pods, leaving);
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const { generation } = metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const [value, reason] =
    allowed > 0 ? (['True', 'SufficientPods'] as const) : (['False', 'InsufficientPods'] as const);
  return {
    ...observed,
    ...(Object.keys(leaving.pods).length === 0 ? {} : { disruptedPods: leaving.pods }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: withDisruptionAllowed(before.conditions, value, reason, '', observed, now),
  };
}

/** The status of a budget that can't be counted: no pod may be evicted. */
export function failedStatus(
  { status: before }: StoredBudget,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const { observedGeneration } = before;
  const observed = observedGeneration === undefined ? {} : { observedGeneration };
  const conditions = withDisruptionAllowed(before.conditions, 'False', 'SyncFailed', message, observed, now);
  return { ...before, disruptionsAllowed: 0, conditions };
}

function withDisruptionAllowed(
  conditions: readonly Condition[] = [],
  status: 'False' | 'True',
  reason: string,
  message: string,
  observed: { readonly observedGeneration?: number },
  now: number,
): Condition[] {
  const type = 'DisruptionAllowed';
  const known = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : formatTime(now);
  const next: Condition = { type, status, ...observed, lastTransitionTime, reason, message };
  return known === undefined
    ? [...conditions, next]
    : conditions.map((condition) => (condition === known ? next : condition));
}
