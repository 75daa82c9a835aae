import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, forbidden, invalid, required } from '../../../base/machinery/field-error.js';
import type { Job, JobSpec } from '../../../objects/apis/batch/v1/job.types.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import {
  checkImmutable,
  checkNonNegative,
  checkOneOf,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validatePodTemplateSpec } from '../../../objects/apis/core/v1/validation/pod-template.validation.js';
import {
  matcherOf,
  validateLabelSelector,
} from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policy.validation.js';

const specPath = FieldPath.of('spec');
const templateLabelsPath = FieldPath.of('spec', 'template', 'metadata', 'labels');
const maxParallelismWhenIndexed = 100_000;

/** Broken rules of a job, metadata aside. */
export function validateJob(job: Job, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  checkGeneratedSelector(job, errors);
  errors.push(...validateJobSpec(job.spec, specPath, options));
  validateSelector(job.spec, errors);
  return errors;
}

/** A selector made by the server must choose exactly the pods of this job. */
function checkGeneratedSelector({ metadata, spec }: Job, errors: FieldError[]): void {
  if (spec.manualSelector === true) return;
  const expected: Readonly<Record<string, string>> = {
    'controller-uid': metadata.uid ?? '',
    'job-name': metadata.name ?? '',
  };
  const labels = spec.template.metadata.labels ?? {};
  for (const [key, value] of Object.entries(expected)) {
    const path = templateLabelsPath.key(key);
    if (labels[key] === undefined) errors.push(required(path, `must be '${value}'`));
    else if (labels[key] !== value) errors.push(invalid(path, labels, `must be '${value}'`));
  }
  const matches = spec.selector === undefined ? undefined : matcherOf(spec.selector);
  if (matches?.(expected) === false) {
    errors.push(invalid(specPath.child('selector'), spec.selector, '`selector` not auto-generated'));
  }
}

function validateSelector(spec: JobSpec, errors: FieldError[]): void {
  const path = specPath.child('selector');
  if (spec.selector === undefined) errors.push(required(path));
  else errors.push(...validateLabelSelector(spec.selector, path));
  const { labels } = spec.template.metadata;
  if (matcherOf(spec.selector ?? null)?.(labels ?? {}) === false) {
    errors.push(invalid(templateLabelsPath, labels, '`selector` does not match template `labels`'));
  }
}

/** Broken rules that jobs and the jobs of cron jobs share. */
export function validateJobSpec(spec: JobSpec, path: FieldPath, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const) {
    checkNonNegative(spec[field], path.child(field), errors);
  }
  validateCompletionMode(spec, path, errors);
  if (spec.podReplacementPolicy !== undefined) {
    const at = path.child('podReplacementPolicy');
    const allowed = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
    checkOneOf(spec.podReplacementPolicy, allowed, at, errors);
  }
  errors.push(...validatePodTemplateSpec(spec.template, path.child('template'), options));
  const policy = spec.template.spec.restartPolicy;
  const policyPath = path.child('template').child('spec').child('restartPolicy');
  if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(required(policyPath, 'valid values: "OnFailure", "Never"'));
  } else if (spec.podFailurePolicy !== undefined && policy !== 'Never') {
    errors.push(invalid(policyPath, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
  if (spec.podFailurePolicy !== undefined) {
    validatePodFailurePolicy(spec, spec.podFailurePolicy, path.child('podFailurePolicy'), errors);
  }
  if (spec.successPolicy !== undefined) {
    validateSuccessPolicy(spec, spec.successPolicy, path.child('successPolicy'), errors);
  }
  return errors;
}

function validateCompletionMode(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const mode = spec.completionMode ?? 'NonIndexed';
  checkOneOf(mode, ['NonIndexed', 'Indexed'], path.child('completionMode'), errors);
  if (mode !== 'Indexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] === undefined) continue;
      errors.push(invalid(path.child(field), spec[field], 'requires indexed completion mode'));
    }
    return;
  }
  if (spec.completions === undefined) {
    errors.push(required(path.child('completions'), 'when completion mode is Indexed'));
  }
  const parallelism = spec.parallelism ?? 0;
  if (parallelism > maxParallelismWhenIndexed) {
    const detail = `must be less than or equal to ${maxParallelismWhenIndexed} when completion mode is Indexed`;
    errors.push(invalid(path.child('parallelism'), parallelism, detail));
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  if (spec.maxFailedIndexes !== undefined && spec.maxFailedIndexes > (spec.completions ?? 0)) {
    errors.push(
      invalid(path.child('maxFailedIndexes'), spec.maxFailedIndexes, 'must be less than or equal to completions'),
    );
  }
}

/** Broken rules of a changed job: the form of its pods and the number that must succeed stay the same. */
export function validateJobUpdate(job: Job, old: Job, options: PodValidationOptions): FieldError[] {
  const errors = validateJob(job, options);
  checkCompletions(job.spec, old.spec, errors);
  checkImmutable(job.spec.selector, old.spec.selector, specPath.child('selector'), errors);
  checkImmutable(templateToKeep(job, old), old.spec.template, specPath.child('template'), errors);
  const mode = job.spec.completionMode ?? 'NonIndexed';
  checkImmutable(mode, old.spec.completionMode ?? 'NonIndexed', specPath.child('completionMode'), errors);
  for (const field of ['podFailurePolicy', 'successPolicy', 'backoffLimitPerIndex', 'managedBy'] as const) {
    checkImmutable(job.spec[field], old.spec[field], specPath.child(field), errors);
  }
  return errors;
}

/** Indexed jobs grow and shrink by changing both numbers together. */
function checkCompletions(spec: JobSpec, old: JobSpec, errors: FieldError[]): void {
  const path = specPath.child('completions');
  const isElastic =
    spec.completionMode === 'Indexed' && spec.completions !== undefined && old.completions !== undefined;
  if (!isElastic || spec.completions === old.completions) {
    checkImmutable(spec.completions, old.completions, path, errors);
    return;
  }
  if (old.completions !== old.parallelism || spec.completions !== spec.parallelism) {
    errors.push(invalid(path, spec.completions, 'can only be modified in tandem with parallelism'));
  }
}

/** The new template, with the fields that may change before the start of the job put back to their old values. */
function templateToKeep(job: Job, old: Job): PodTemplateSpec {
  const { template } = job.spec;
  const before = old.spec.template;
  const mayMove = old.spec.suspend === true && !old.status.startTime;
  if (!mayMove || isDeepStrictEqual(template, before)) return template;
  const spec = { ...template.spec };
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates'] as const) copyField(spec, before.spec, field);
  if (spec.affinity !== undefined || before.spec.affinity !== undefined) {
    const affinity = { ...spec.affinity };
    copyField(affinity, before.spec.affinity ?? {}, 'nodeAffinity');
    if (Object.keys(affinity).length === 0 && before.spec.affinity === undefined) delete spec.affinity;
    else spec.affinity = affinity;
  }
  const metadata = { ...template.metadata };
  copyField(metadata, before.metadata, 'annotations');
  copyField(metadata, before.metadata, 'labels');
  return { metadata, spec };
}

function copyField<T extends object, K extends keyof T>(object: T, old: T, field: K): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** Broken rules of the status of a job. */
export function validateJobStatus({ status }: Job): FieldError[] {
  const path = FieldPath.of('status');
  const errors: FieldError[] = [];
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    checkNonNegative(status[field], path.child(field), errors);
  }
  const conditions = new Set(status.conditions?.filter((c) => c.status === 'True').map((c) => c.type));
  if (conditions.has('Complete') && conditions.has('Failed')) {
    errors.push(forbidden(path.child('conditions'), 'cannot set Complete=True and Failed=true conditions'));
  }
  return errors;
}
