import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { scheduleError } from '../../../base/machinery/values/cron-schedule.js';
import type { CronJob } from '../../../objects/apis/batch/v1/cron-job.types.js';
import {
  checkNonNegative,
  checkOneOf,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { validateJobSpec } from '../job/job.validation.js';

const specPath = FieldPath.of('spec');
/** The name of a job consists of the name of its cron job, a dash and ten digits, and must fit in a label. */
const maxNameLength = 52;

/** Validates a new cron job; of its metadata only the length of its name. */
export function validateCronJob(object: CronJob, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { name = '' } = object.metadata;
  if (name.length > maxNameLength) {
    const detail = `must be no more than ${maxNameLength} characters`;
    errors.push(invalid(FieldPath.of('metadata', 'name'), name, detail));
  }
  validateSpec(object, undefined, options, errors);
  return errors;
}

/** Validates a changed cron job; values with which it has already run may stay. */
export function validateCronJobUpdate(object: CronJob, old: CronJob, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(object, old, updateOptions(options, old.spec.jobTemplate.spec.template.spec), errors);
  return errors;
}

function validateSpec(
  { spec }: CronJob,
  old: CronJob | undefined,
  options: PodValidationOptions,
  errors: FieldError[],
): void {
  const schedulePath = specPath.child('schedule');
  if (spec.schedule !== '' && spec.schedule !== old?.spec.schedule) {
    const message = scheduleError(spec.schedule);
    if (message !== undefined) errors.push(invalid(schedulePath, spec.schedule, message));
  }
  checkNonNegative(spec.startingDeadlineSeconds, specPath.child('startingDeadlineSeconds'), errors);
  if (spec.timeZone !== undefined && spec.timeZone !== old?.spec.timeZone) checkTimeZone(spec.timeZone, errors);
  const policy = spec.concurrencyPolicy ?? '';
  const policyPath = specPath.child('concurrencyPolicy');
  if (policy === '') errors.push(required(policyPath));
  else checkOneOf(policy, ['Allow', 'Forbid', 'Replace'], policyPath, errors);
  const templatePath = specPath.child('jobTemplate');
  const jobSpec = spec.jobTemplate.spec;
  const jobSpecPath = templatePath.child('spec');
  errors.push(...validateJobSpec(jobSpec, jobSpecPath, options));
  if (jobSpec.selector !== undefined) {
    errors.push(invalid(jobSpecPath.child('selector'), jobSpec.selector, '`selector` will be auto-generated'));
  }
  if (jobSpec.manualSelector === true) {
    errors.push(notSupported(jobSpecPath.child('manualSelector'), true, ['nil', 'false']));
  }
  checkNonNegative(spec.successfulJobsHistoryLimit, specPath.child('successfulJobsHistoryLimit'), errors);
  checkNonNegative(spec.failedJobsHistoryLimit, specPath.child('failedJobsHistoryLimit'), errors);
  if (spec.schedule === '') errors.push(required(schedulePath));
}

function checkTimeZone(zone: string, errors: FieldError[]): void {
  const path = specPath.child('timeZone');
  if (zone === '') errors.push(invalid(path, zone, 'timeZone must be nil or non-empty string'));
  else if (zone.toLowerCase() === 'local') {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    errors.push(invalid(path, zone, detail));
  } else if (!isKnownTimeZone(zone)) errors.push(invalid(path, zone, `unknown time zone ${zone}`));
}

function isKnownTimeZone(zone: string): boolean {
  // Offsets such as `+01:00` are not names of zones, nor are names in small letters, though the formatter accepts them.
  if (!/^[A-Z][^/]*(\/[A-Z][^/]*)*$/.test(zone)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    return timeZone === zone || timeZone.toLowerCase() !== zone.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
