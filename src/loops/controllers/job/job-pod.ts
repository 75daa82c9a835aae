import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodTerminating, podCondition } from '../frame/pod-state.js';
import type { JobNames } from './job-names.js';

export type StoredJob = Job & ApiObject;
export type JobPod = StoredPod;

export function isDeleting({ metadata }: Readonly<ApiObject>): boolean {
  return Boolean(metadata.deletionTimestamp);
}

/** Whether a pod that is being deleted is replaced only when it has ended. */
export function replacesFailedOnly({ spec }: Job): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}

/** Whether the pod counts as failed: pods that are deleted before their end may never report it. */
export function isFailed(pod: JobPod, job: Job): boolean {
  if (pod.status.phase === 'Failed') return true;
  return !replacesFailedOnly(job) && isPodTerminating(pod);
}

/** Whether the pod still has the tracking finalizer: it is not counted yet, or was counted just now. */
export function isTracked({ metadata }: JobPod, names: JobNames): boolean {
  return metadata.finalizers?.includes(names.trackingFinalizer) ?? false;
}

/** The completion index of a pod; undefined when it has none that is valid for the job. */
export function completionIndex({ metadata }: JobPod, { spec }: Job, names: JobNames): number | undefined {
  const text = metadata.annotations?.[names.completionIndex] ?? '';
  if (!/^\d{1,9}$/.test(text)) return undefined;
  const index = Number(text);
  return index < (spec.completions ?? 0) ? index : undefined;
}

/** Failures of the index before this pod. */
export function indexFailures({ metadata }: JobPod, names: JobNames): { counted: number; ignored: number } {
  const count = (annotation: string) => {
    const value = Number(metadata.annotations?.[annotation] ?? 0);
    return Number.isSafeInteger(value) && value > 0 ? value : 0;
  };
  return { counted: count(names.indexFailureCount), ignored: count(names.indexIgnoredFailureCount) };
}

/** When an ended or deleted pod ended, in milliseconds since the epoch. */
export function endedAt(pod: JobPod): number {
  const { metadata, status } = pod;
  const times = (status.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''));
  if (times.length > 0 && times.every((time) => !Number.isNaN(time))) return Math.max(...times);
  if (metadata.deletionTimestamp) {
    return Date.parse(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  }
  const ready = podCondition(pod, 'Ready');
  if (ready?.lastTransitionTime) return Date.parse(ready.lastTransitionTime);
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

export function isSuspended({ spec }: Job): boolean {
  return spec.suspend === true;
}
