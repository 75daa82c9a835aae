import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  invalidOmitted,
  required,
} from '../../../base/machinery/field-error.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';
import { checkNonNegative } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { commonIndex, parseIndexes } from './job-indexes.js';

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
  checkUncounted(job, errors);
  const changed = changeOf(job, old);
  checkComplete(job, changed, errors);
  checkCompletionTime(job, changed, errors);
  checkTerminal(job, changed, errors);
  checkFinished(job, changed, errors);
  checkIndexes(job, changed, errors);
  checkPods(job, changed, errors);
  checkSuccess(job, errors);
  checkEnd(job, old, errors);
  checkCounters(job, old, errors);
  checkTimes(job, old, errors);
  checkCriteria(job, old, errors);
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

/** Checks that a job that is complete has not failed. */
function checkComplete(job: Job, changed: Change, errors: FieldError[]): void {
  if (!holds(job, 'Complete')) return;
  const refuse = (detail: string) => errors.push(invalidOmitted(conditionsPath, detail));
  if (changed.condition('Complete', 'Failed') && holds(job, 'Failed')) {
    refuse('cannot set Complete=True and Failed=true conditions');
  }
  if (changed.condition('Complete', 'FailureTarget') && holds(job, 'FailureTarget')) {
    refuse('cannot set Complete=True and FailureTarget=true conditions');
  }
}

/** Checks that the conditions of the end follow those that announce them. */
function checkTerminal(job: Job, changed: Change, errors: FieldError[]): void {
  const refuse = (detail: string) => errors.push(invalidOmitted(conditionsPath, detail));
  if (changed.condition('Failed') && holds(job, 'Failed') && !holds(job, 'FailureTarget')) {
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

/** Checks that a job that met its criteria has not failed, and that its policy for success was followed. */
function checkSuccess(job: Job, errors: FieldError[]): void {
  const refuse = (detail: string) => errors.push(invalidOmitted(conditionsPath, detail));
  if (holds(job, 'SuccessCriteriaMet')) {
    if (holds(job, 'Failed')) refuse('cannot set SuccessCriteriaMet=True and Failed=true conditions');
    if (holds(job, 'FailureTarget')) refuse('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  } else if (job.spec.successPolicy !== undefined && holds(job, 'Complete')) {
    refuse('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  }
}

/** Checks the pods that the counters do not have yet: each is named once. */
function checkUncounted({ status: { uncountedTerminatedPods: pods } }: Job, errors: FieldError[]): void {
  const seen = new Set<string>();
  for (const field of ['succeeded', 'failed'] as const) {
    pods?.[field]?.forEach((uid, i) => {
      const path = statusPath.child('uncountedTerminatedPods').child(field).index(i);
      if (uid === '') errors.push(invalid(path, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(path, uid));
      seen.add(uid);
    });
  }
}

function checkIndexes({ spec, status }: Job, changed: Change, errors: FieldError[]): void {
  const { completedIndexes = '', failedIndexes } = status;
  const { completions } = spec;
  const [completedPath, failedPath] = [statusPath.child('completedIndexes'), statusPath.child('failedIndexes')];
  const [completedChanged, failedChanged] = [changed.field('completedIndexes'), changed.field('failedIndexes')];
  const isChecked = completions !== undefined && (completedChanged || failedChanged);
  const completed = isChecked ? parseIndexes(completedIndexes, completions) : undefined;
  if (completedChanged && typeof completed === 'string') {
    errors.push(invalid(completedPath, completedIndexes, `error parsing completedIndexes: ${completed}`));
  }
  const failed = isChecked && failedIndexes !== undefined ? parseIndexes(failedIndexes, completions) : undefined;
  if (failedChanged && typeof failed === 'string' && spec.backoffLimitPerIndex !== undefined) {
    errors.push(invalid(failedPath, failedIndexes, `error parsing failedIndexes: ${failed}`));
  }
  if (completedChanged && completedIndexes !== '' && spec.completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalid(completedPath, completedIndexes, detail));
  }
  if (failedChanged && failedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalid(failedPath, failedIndexes, detail));
  }
  if (completed === undefined || failed === undefined) return;
  if (typeof completed === 'string' || typeof failed === 'string') return;
  const common = commonIndex(completed, failed);
  if (common === undefined) return;
  const detail = `failedIndexes and completedIndexes overlap at index: ${common}`;
  errors.push(invalid(failedPath, failedIndexes, detail));
}

/** Checks that the counters do not fall. Elastic jobs, whose completions follow their parallelism, may lose successes. */
function checkCounters(job: Job, old: Job, errors: FieldError[]): void {
  const { spec } = job;
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const field of isElastic ? (['failed'] as const) : (['failed', 'succeeded'] as const)) {
    const [count = 0, before = 0] = [job.status[field], old.status[field]];
    if (count < before) errors.push(invalid(statusPath.child(field), count, `cannot decrease the ${field} counter`));
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
    errors.push(invalid(path, completionTime, 'must be equal to or after `startTime`'));
  }
}

function checkFinished(job: Job, changed: Change, errors: FieldError[]): void {
  if (!isFinished(job)) return;
  const ended = changed.condition('Complete', 'Failed');
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = job.status;
  const isEmpty = job.spec.suspend === true && job.spec.completions === 0;
  if ((ended || changed.field('active')) && active > 0) {
    errors.push(invalid(statusPath.child('active'), active, 'active>0 is invalid for finished job'));
  }
  if ((ended || changed.field('startTime')) && !startTime && !isEmpty) {
    errors.push(required(statusPath.child('startTime'), 'startTime is required for finished job'));
  }
  const pods = (uncounted?.succeeded ?? []).length + (uncounted?.failed ?? []).length;
  if ((ended || changed.field('uncountedTerminatedPods')) && pods > 0) {
    const detail = 'must be empty for finished job';
    errors.push(invalid(statusPath.child('uncountedTerminatedPods'), uncounted, detail));
  }
}

/** Checks the numbers of pods that end or are ready. */
function checkPods(job: Job, changed: Change, errors: FieldError[]): void {
  const { active = 0, ready, terminating = 0 } = job.status;
  if (changed.condition('Complete', 'Failed') || changed.field('terminating')) {
    if (isFinished(job) && terminating > 0) {
      errors.push(invalid(statusPath.child('terminating'), terminating, 'terminating>0 is invalid for finished job'));
    }
  }
  if (changed.field('ready', 'active') && ready !== undefined && ready > active) {
    errors.push(invalid(statusPath.child('ready'), ready, 'cannot set more ready pods than active'));
  }
}

/** Checks that a job that ended stays so. */
function checkEnd(job: Job, old: Job, errors: FieldError[]): void {
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (!holds(old, type) || holds(job, type)) continue;
    errors.push(invalidOmitted(conditionsPath, `cannot disable the terminal ${type}=True condition`));
  }
}

/** Checks that the times of a job stay once they are set. */
function checkTimes(job: Job, old: Job, errors: FieldError[]): void {
  const [now, before] = [job.status, old.status];
  if (now.completionTime && before.completionTime && now.completionTime !== before.completionTime) {
    errors.push(invalid(statusPath.child('completionTime'), now.completionTime, 'field is immutable'));
  }
  // A suspended job starts again when it resumes.
  const resumes =
    holds(old, 'Suspended') && now.conditions?.some((c) => c.type === 'Suspended' && c.status === 'False');
  if (!before.startTime || job.spec.suspend === true || resumes || now.startTime === before.startTime) return;
  const detail = 'field is immutable for unsuspended job once set';
  errors.push(invalid(statusPath.child('startTime'), now.startTime ?? null, detail));
}

/** Checks that a job neither loses the criteria it met nor meets them once it is complete. */
function checkCriteria(job: Job, old: Job, errors: FieldError[]): void {
  const [met, meets] = [holds(old, 'SuccessCriteriaMet'), holds(job, 'SuccessCriteriaMet')];
  const refuse = (detail: string) => errors.push(invalidOmitted(conditionsPath, detail));
  if (met && !meets) refuse('cannot disable the SuccessCriteriaMet=True condition');
  if (!met && meets && holds(old, 'Complete')) {
    refuse('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  }
}
