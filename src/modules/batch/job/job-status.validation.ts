import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, invalid, invalidOmitted, required } from '../../../base/machinery/field-error.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';
import { checkNonNegative } from '../../../objects/apis/core/v1/validation/common.validation.js';

const statusPath = FieldPath.of('status');
const conditionsPath = statusPath.child('conditions');

/**
 * Validates a changed status of a job. A rule about several fields counts when one of them changes, so that a
 * status written by an older release stays valid.
 */
export function validateJobStatus(job: Job, old: Job): FieldError[] {
  const errors: FieldError[] = [];
  const { status } = job;
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    checkNonNegative(status[field], statusPath.child(field), errors);
  }
  const changed = changeOf(job, old);
  if (changed.field('ready', 'active') && status.ready !== undefined && status.ready > (status.active ?? 0)) {
    errors.push(invalid(statusPath.child('ready'), status.ready, 'cannot set more ready pods than active'));
  }
  checkConditions(job, changed, errors);
  checkCompletionTime(job, changed, errors);
  checkFinished(job, changed, errors);
  checkHistory(job, old, errors);
  return errors;
}

interface Change {
  /** Whether one of the conditions became true or ceased to be true. */
  condition(...types: readonly string[]): boolean;
  field(...names: readonly (keyof Job['status'])[]): boolean;
}

function changeOf(job: Job, old: Job): Change {
  return {
    condition: (...types) => types.some((type) => holds(job, type) !== holds(old, type)),
    field: (...names) => names.some((name) => !isDeepStrictEqual(job.status[name], old.status[name])),
  };
}

function holds({ status }: Job, type: string): boolean {
  return status.conditions?.some((c) => c.type === type && c.status === 'True') === true;
}

function isFinished(job: Job): boolean {
  return holds(job, 'Complete') || holds(job, 'Failed');
}

function checkConditions(job: Job, changed: Change, errors: FieldError[]): void {
  const refuse = (detail: string) => errors.push(invalidOmitted(conditionsPath, detail));
  if (holds(job, 'Complete')) {
    if (changed.condition('Complete', 'Failed') && holds(job, 'Failed')) {
      refuse('cannot set Complete=True and Failed=true conditions');
    }
    if (changed.condition('Complete', 'FailureTarget') && holds(job, 'FailureTarget')) {
      refuse('cannot set Complete=True and FailureTarget=true conditions');
    }
  }
  if (changed.condition('Failed', 'FailureTarget') && holds(job, 'Failed') && !holds(job, 'FailureTarget')) {
    refuse('cannot set Failed=True condition without the FailureTarget=true condition');
  }
  if (
    changed.condition('Complete', 'SuccessCriteriaMet') &&
    holds(job, 'Complete') &&
    !holds(job, 'SuccessCriteriaMet')
  ) {
    refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  }
}

function checkCompletionTime(job: Job, changed: Change, errors: FieldError[]): void {
  const path = statusPath.child('completionTime');
  const { completionTime, startTime } = job.status;
  if (changed.condition('Complete') || changed.field('completionTime')) {
    if (completionTime && !holds(job, 'Complete')) {
      const detail = 'cannot set completionTime when there is no Complete=True condition';
      errors.push(invalid(path, completionTime, detail));
    }
    if (!completionTime && holds(job, 'Complete')) {
      errors.push(required(path, 'completionTime is required for Complete jobs'));
    }
  }
  if (!changed.field('startTime', 'completionTime') || !completionTime || !startTime) return;
  if (Date.parse(completionTime) < Date.parse(startTime)) {
    errors.push(invalid(path, completionTime, 'completionTime cannot be set before startTime'));
  }
}

function checkFinished(job: Job, changed: Change, errors: FieldError[]): void {
  if (!isFinished(job)) return;
  const ended = changed.condition('Complete', 'Failed');
  const { active = 0, terminating = 0, startTime, uncountedTerminatedPods: uncounted } = job.status;
  const isEmpty = job.spec.suspend === true && job.spec.completions === 0;
  if ((ended || changed.field('active')) && active > 0) {
    errors.push(invalid(statusPath.child('active'), active, 'active>0 is invalid for finished job'));
  }
  if ((ended || changed.field('terminating')) && terminating > 0) {
    errors.push(invalid(statusPath.child('terminating'), terminating, 'terminating>0 is invalid for finished job'));
  }
  if ((ended || changed.field('startTime')) && !startTime && !isEmpty) {
    errors.push(required(statusPath.child('startTime'), 'startTime is required for finished job'));
  }
  const pods = (uncounted?.succeeded ?? []).length + (uncounted?.failed ?? []).length;
  if ((ended || changed.field('uncountedTerminatedPods')) && pods > 0) {
    const detail = 'uncountedTerminatedPods needs to be empty for finished job';
    errors.push(invalid(statusPath.child('uncountedTerminatedPods'), uncounted, detail));
  }
}

/** Checks that the progress of a job is never undone. */
function checkHistory(job: Job, old: Job, errors: FieldError[]): void {
  const [now, before] = [job.status, old.status];
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (!holds(old, type) || holds(job, type)) continue;
    errors.push(invalidOmitted(conditionsPath, `cannot disable the terminal ${type}=True condition`));
  }
  if (holds(old, 'SuccessCriteriaMet') && !holds(job, 'SuccessCriteriaMet')) {
    errors.push(invalidOmitted(conditionsPath, 'cannot disable the SuccessCriteriaMet=True condition'));
  }
  if (now.completionTime && before.completionTime && now.completionTime !== before.completionTime) {
    const detail = 'completionTime cannot be mutated';
    errors.push(invalid(statusPath.child('completionTime'), now.completionTime, detail));
  }
  // A job that was suspended starts again when it resumes.
  const wasSuspended = job.spec.suspend === true || holds(old, 'Suspended');
  if (!before.startTime || wasSuspended || now.startTime === before.startTime) return;
  const path = statusPath.child('startTime');
  if (!now.startTime) errors.push(required(path, 'startTime cannot be removed for unsuspended job'));
  else errors.push(invalid(path, now.startTime, 'startTime cannot be modified for unsuspended job'));
}
