import type { JobSpec } from '../../../objects/apis/batch/v1/job.types.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';

/** Fills in the defaults of a job template. Changes `spec`. */
export function applyJobTemplateDefaults(spec: JobSpec): void {
  applyPodSpecDefaults(spec.template.spec);
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
}

/** Fills in the defaults of a job. Changes `spec`. */
export function applyJobDefaults(spec: JobSpec): void {
  applyJobTemplateDefaults(spec);
  // If both numbers are unset, one pod must succeed. With only parallelism, the pods decide together when the job is done.
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  // A failure policy decides about finished pods, so a pod is replaced only after it has finished.
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  // A job with a limit for each index has no limit for the job as a whole.
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2147483647;
}
