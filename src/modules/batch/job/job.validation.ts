import { isDeepStrictEqual } from 'node:util';
import { validateDomainPrefixedPath } from '../../../base/machinery/domain-prefixed-path.js';
import {
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label } from '../../../base/machinery/names.js';
import type { Job, JobSpec } from '../../../objects/apis/batch/v1/job.types.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import {
  checkImmutable,
  checkNonNegative,
  checkOneOf,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validatePodTemplateSpec } from '../../../objects/apis/core/v1/validation/pod-template.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import {
  matcherOf,
  validateLabelSelector,
} from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { type JobLabels, jobLabels } from './job-labels.js';
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policy.validation.js';

const specPath = FieldPath.of('spec');
const templateLabelsPath = FieldPath.of('spec', 'template', 'metadata', 'labels');
const maxParallelismWhenIndexed = 100_000;
const maxFailed = 100_000;
/** Above so many completions, a job with a limit per index may run or fail fewer indexes at a time. */
const manyCompletions = 100_000;
const maxOfMany = 10_000;
const maxManagerLength = 63;

/** Validates a job, except for its metadata. */
export function validateJob(job: Job, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  checkGeneratedSelector(job, jobLabels(options.names), errors);
  errors.push(...validateWhole(job, options));
  const { completionMode, completions = 0 } = job.spec;
  const { name = '' } = job.metadata;
  const lastPod = `${name}-${completions - 1}`;
  if (completionMode === 'Indexed' && completions > 0 && isDns1123Label(lastPod).length > 0) {
    const detail = `will not able to create pod with invalid DNS label: ${lastPod}`;
    errors.push(invalid(FieldPath.of('metadata', 'name'), name, detail));
  }
  return errors;
}

function validateWhole(job: Job, options: PodValidationOptions): FieldError[] {
  const errors = validateJobSpec(job.spec, specPath, options);
  validateSelector(job.spec, errors);
  return errors;
}

/** Checks that a selector made by the server selects exactly the pods of this job. */
function checkGeneratedSelector({ metadata, spec }: Job, names: JobLabels, errors: FieldError[]): void {
  if (spec.manualSelector === true) return;
  const { uid = '', name = '' } = metadata;
  const expected: Readonly<Record<string, string>> = {
    [names.uid[1]]: uid,
    [names.name[1]]: name,
    [names.uid[0]]: uid,
    [names.name[0]]: name,
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
  // A selector that is missing selects nothing.
  if (matcherOf(spec.selector ?? null)?.(labels ?? {}) === false) {
    errors.push(invalid(templateLabelsPath, labels, '`selector` does not match template `labels`'));
  }
}

/** Validates the spec of a job, or of the jobs of a cron job. */
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
  if (spec.managedBy !== undefined) {
    errors.push(...validateDomainPrefixedPath(spec.managedBy, path.child('managedBy')));
    if (spec.managedBy.length > maxManagerLength) errors.push(tooLong(path.child('managedBy'), maxManagerLength));
  }
  if (spec.podFailurePolicy !== undefined) {
    validatePodFailurePolicy(spec, spec.podFailurePolicy, path.child('podFailurePolicy'), errors);
  }
  if (spec.successPolicy !== undefined) {
    validateSuccessPolicy(spec, spec.successPolicy, path.child('successPolicy'), errors);
  }
  if (spec.podReplacementPolicy !== undefined) {
    const at = path.child('podReplacementPolicy');
    const allowed = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
    checkOneOf(spec.podReplacementPolicy, allowed, at, errors);
  }
  errors.push(...validatePodTemplateSpec(spec.template, path.child('template'), options));
  validateRestartPolicy(spec, path.child('template').child('spec').child('restartPolicy'), errors);
  return errors;
}

function validateRestartPolicy(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const policy = spec.template.spec.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') errors.push(required(path, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(notSupported(path, policy, ['OnFailure', 'Never']));
  } else if (spec.podFailurePolicy !== undefined && policy !== 'Never') {
    errors.push(invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
}

function validateCompletionMode(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const mode = spec.completionMode ?? 'NonIndexed';
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'));
  }
  checkOneOf(mode, ['NonIndexed', 'Indexed'], path.child('completionMode'), errors);
  if (mode !== 'Indexed') {
    if (mode !== 'NonIndexed') return;
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
  checkMaxFailedIndexes(spec, path, errors);
}

/** Checks the number of indexes that may fail, which keeps the list of failed indexes in the status short. */
function checkMaxFailedIndexes(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const { maxFailedIndexes: count, completions = 0, parallelism = 0 } = spec;
  const at = path.child('maxFailedIndexes');
  if (count !== undefined && count > completions) {
    errors.push(invalid(at, count, 'must be less than or equal to completions'));
  }
  if (count !== undefined && count > maxFailed) {
    errors.push(invalid(at, count, `must be less than or equal to ${maxFailed}`));
  }
  if (spec.backoffLimitPerIndex === undefined || completions <= manyCompletions) return;
  const rule = `must be less than or equal to ${maxOfMany} when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (count === undefined) errors.push(required(at, `must be specified when completions is above ${manyCompletions}`));
  if (parallelism > maxOfMany) errors.push(invalid(path.child('parallelism'), parallelism, rule));
  if (count !== undefined && count > maxOfMany) errors.push(invalid(at, count, rule));
}

/** Validates a changed job: the form of its pods and the number that must succeed stay the same. */
export function validateJobUpdate(job: Job, old: Job, options: PodValidationOptions): FieldError[] {
  const errors = validateWhole(job, updateOptions(options, old.spec.template.spec));
  checkCompletions(job.spec, old.spec, errors);
  checkImmutable(job.spec.selector, old.spec.selector, specPath.child('selector'), errors);
  checkTemplate(job, old, errors);
  const mode = job.spec.completionMode ?? 'NonIndexed';
  checkImmutable(mode, old.spec.completionMode ?? 'NonIndexed', specPath.child('completionMode'), errors);
  for (const field of ['podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const) {
    checkImmutable(job.spec[field], old.spec[field], specPath.child(field), errors);
  }
  return errors;
}

/** Checks the number of completions: indexed jobs may grow and shrink if both numbers change together. */
function checkCompletions(spec: JobSpec, old: JobSpec, errors: FieldError[]): void {
  const path = specPath.child('completions');
  const isElastic =
    spec.completionMode === 'Indexed' && spec.completions !== undefined && old.completions !== undefined;
  if (!isElastic || spec.completions === old.completions) {
    checkImmutable(spec.completions, old.completions, path, errors);
    return;
  }
  if (spec.completions !== spec.parallelism) {
    errors.push(invalid(path, spec.completions, 'can only be modified in tandem with spec.parallelism'));
  }
}

/** Whether a suspended job has no pods: it never ran, or its pods have stopped since. */
function isAtRest({ spec, status }: Job): boolean {
  const hasStopped = status.conditions?.some(({ type, status: value }) => type === 'Suspended' && value === 'True');
  return spec.suspend === true && (!status.startTime || hasStopped === true) && !status.active;
}

/** Checks that the template stays the same, except for fields that may change while a job is at rest. */
function checkTemplate(job: Job, old: Job, errors: FieldError[]): void {
  const path = specPath.child('template');
  const before = old.spec.template;
  if (!isAtRest(old)) {
    checkImmutable(job.spec.template, before, path, errors);
    return;
  }
  const kept = templateToKeep(job.spec.template, before);
  checkImmutable(kept.spec, before.spec, path.child('spec'), errors);
}

/** The new template, with the fields that may change while the job is at rest put back to their old values. */
function templateToKeep(template: PodTemplateSpec, before: PodTemplateSpec): PodTemplateSpec {
  if (isDeepStrictEqual(template, before)) return template;
  const spec = { ...template.spec };
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates'] as const) copyField(spec, before.spec, field);
  if (spec.affinity !== undefined || before.spec.affinity !== undefined) {
    const affinity = { ...spec.affinity };
    copyField(affinity, before.spec.affinity ?? {}, 'nodeAffinity');
    if (Object.keys(affinity).length === 0 && before.spec.affinity === undefined) delete spec.affinity;
    else spec.affinity = affinity;
  }
  for (const field of ['containers', 'initContainers'] as const) {
    const wanted = spec[field];
    const live = before.spec[field];
    if (wanted && live && wanted.length === live.length) spec[field] = withResourcesOf(wanted, live);
  }
  return { ...template, spec };
}

/** The containers with the resources of the live containers of the same name and position. */
function withResourcesOf(wanted: readonly Container[], live: readonly Container[]): Container[] {
  return wanted.map((container, i) => {
    const { name, resources } = live[i] as Container;
    return name === container.name ? { ...container, resources } : container;
  });
}

function copyField<T extends object, K extends keyof T>(object: T, old: T, field: K): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}
