import type { StoredPod } from '../frame/indexes.js';
import { groupPods, type PodMetric, type PodMetrics, type StartTimes } from './pod-metrics.js';

/** Deviations from the target value, as fractions of it, that change nothing. */
export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

/** The scaled object, and the rules for it. */
export interface ScaledPods {
  readonly currentReplicas: number;
  /** Pods that the selector of the target selects. */
  readonly pods: readonly StoredPod[];
  readonly tolerances: Tolerances;
  readonly times: StartTimes;
  readonly now: number;
}

/** How many pods a metric requests, and the measured value. */
export interface CountedReplicas {
  readonly replicas: number;
  /** Average per pod, in thousandths. */
  readonly averageMilli: number;
  /** Percentage of the requests; undefined when the metric does not use them. */
  readonly utilization?: number;
}

/** Ratio of the measured to the target value. */
interface Usage {
  readonly ratio: number;
  readonly averageMilli: number;
  readonly utilization?: number;
}

type Measure = (metrics: PodMetrics) => Usage;

/** The replicas at which pods would use `target` percent of their `requests` (in thousandths). Throws Errors. */
export function replicasByUtilization(
  scaled: ScaledPods,
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  target: number,
  isCpu: boolean,
): CountedReplicas {
  const measure = (values: PodMetrics): Usage => {
    let used = 0;
    let requested = 0;
    let count = 0;
    for (const [name, { milli }] of values) {
      const request = requests.get(name);
      if (request === undefined) continue;
      used += milli;
      requested += request;
      count += 1;
    }
    if (requested === 0) throw new Error('no metrics returned matched known pods');
    const utilization = Math.trunc((used * 100) / requested);
    return { ratio: utilization / target, utilization, averageMilli: Math.trunc(used / count) };
  };
  const whole = (name: string) => ((requests.get(name) ?? 0) * Math.max(100, target)) / 100;
  return countReplicas(scaled, metrics, measure, whole, isCpu);
}

/** The replicas at which the average of the pods would be `target`, in thousandths. Throws Errors. */
export function replicasByAverage(
  scaled: ScaledPods,
  metrics: PodMetrics,
  target: number,
  isCpu: boolean,
): CountedReplicas {
  const measure = (values: PodMetrics): Usage => {
    let total = 0;
    for (const { milli } of values.values()) total += milli;
    const average = Math.trunc(total / values.size);
    return { ratio: average / target, averageMilli: average };
  };
  return countReplicas(scaled, metrics, measure, () => target, isCpu);
}

/**
 * Pods without values, and starting pods, never increase the change: pods without values count as using `whole` when
 * fewer replicas are needed, and both count as using nothing when more are needed.
 */
function countReplicas(
  scaled: ScaledPods,
  all: PodMetrics,
  measure: Measure,
  whole: (pod: string) => number,
  isCpu: boolean,
): CountedReplicas {
  const { pods, tolerances, currentReplicas } = scaled;
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const { ready, unready, missing, ignored } = groupPods(pods, all, isCpu, scaled.times, scaled.now);
  const values = new Map<string, PodMetric>(all);
  for (const name of [...ignored, ...unready]) values.delete(name);
  if (values.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  const { ratio, ...measured } = measure(values);
  const countsUnready = unready.length > 0 && ratio > 1;
  const unchanged = { replicas: currentReplicas, ...measured };
  if (!countsUnready && missing.length === 0) {
    return isWithin(tolerances, ratio) ? unchanged : { replicas: Math.ceil(ratio * ready), ...measured };
  }
  const assumed = (milli: number): PodMetric => ({ milli, at: scaled.now, windowMs: 0 });
  if (ratio < 1) for (const name of missing) values.set(name, assumed(whole(name)));
  else if (ratio > 1) for (const name of missing) values.set(name, assumed(0));
  if (countsUnready) for (const name of unready) values.set(name, assumed(0));
  const { ratio: next } = measure(values);
  const turns = (ratio < 1 && next > 1) || (ratio > 1 && next < 1);
  if (isWithin(tolerances, next) || turns) return unchanged;
  const replicas = Math.ceil(next * values.size);
  if ((next < 1 && replicas > currentReplicas) || (next > 1 && replicas < currentReplicas)) return unchanged;
  return { replicas, ...measured };
}

/** The replicas for a value that does not measure the pods: its ratio to the target, for each ready pod. */
export function replicasByValue(scaled: ScaledPods, milli: number, target: number): number {
  const ratio = milli / target;
  if (scaled.currentReplicas === 0) return Math.ceil(ratio);
  if (isWithin(scaled.tolerances, ratio)) return scaled.currentReplicas;
  if (scaled.pods.length === 0) {
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count');
  }
  const ready = scaled.pods.filter(
    (pod) =>
      pod.status.phase === 'Running' &&
      pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true,
  );
  return Math.ceil(ratio * ready.length);
}

/** The replicas that share a value so that each has `target` of it. `statusReplicas` share it now. */
export function replicasByShare(
  tolerances: Tolerances,
  milli: number,
  target: number,
  statusReplicas: number,
): CountedReplicas {
  const ratio = milli / (target * statusReplicas);
  return {
    replicas: isWithin(tolerances, ratio) ? statusReplicas : Math.ceil(milli / target),
    averageMilli: statusReplicas === 0 ? 0 : Math.ceil(milli / statusReplicas),
  };
}

function isWithin({ up, down }: Tolerances, ratio: number): boolean {
  return 1 - down <= ratio && ratio <= 1 + up;
}
