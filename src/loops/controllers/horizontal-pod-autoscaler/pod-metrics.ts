import type { StoredPod } from '../frame/indexes.js';
import { podCondition } from '../frame/pod-state.js';

/** The usage of a pod. */
export interface PodMetric {
  /** The measured value, in thousandths. */
  readonly milli: number;
  /** End of the measurement, in milliseconds since the epoch. */
  readonly at: number;
  /** Length of the measurement, in milliseconds. */
  readonly windowMs: number;
}

/** Metrics by pod name. */
export type PodMetrics = ReadonlyMap<string, PodMetric>;

/** Times that decide how new pods are treated. */
export interface StartTimes {
  /** While a pod is younger than this, its CPU usage counts only if it was ready during the whole measurement. */
  readonly cpuInitializationMs: number;
  /** A pod that is not ready after this time has never been ready. */
  readonly initialReadinessMs: number;
}

export interface PodGroups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  /** Failed pods and those that are being deleted. */
  readonly ignored: readonly string[];
}

/** Groups pods by whether their measured values can be used. */
export function groupPods(
  pods: readonly StoredPod[],
  metrics: PodMetrics,
  isCpu: boolean,
  times: StartTimes,
  now: number,
): PodGroups {
  const unready: string[] = [];
  const missing: string[] = [];
  const ignored: string[] = [];
  let ready = 0;
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const metric = metrics.get(name);
    if (deletionTimestamp || pod.status.phase === 'Failed') ignored.push(name);
    else if (pod.status.phase === 'Pending') unready.push(name);
    else if (metric === undefined) missing.push(name);
    else if (isCpu && isStarting(pod, metric, times, now)) unready.push(name);
    else ready += 1;
  }
  return { ready, unready, missing, ignored };
}

/** Whether the CPU usage of a pod was measured while it started. */
function isStarting(pod: StoredPod, metric: PodMetric, times: StartTimes, now: number): boolean {
  const condition = podCondition(pod, 'Ready');
  if (condition === undefined || !pod.status.startTime) return true;
  const startedAt = Date.parse(pod.status.startTime);
  const changedAt = condition.lastTransitionTime ? Date.parse(condition.lastTransitionTime) : 0;
  const isReady = condition.status !== 'False';
  if (startedAt + times.cpuInitializationMs > now) return !isReady || metric.at < changedAt + metric.windowMs;
  return !isReady && startedAt + times.initialReadinessMs > changedAt;
}
