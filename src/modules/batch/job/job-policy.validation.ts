import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  invalidOmitted,
  required,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyRule,
  SuccessPolicy,
} from '../../../objects/apis/batch/v1/job.types.js';
import { checkNonNegative, checkOneOf } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { parseIndexes } from './job-indexes.js';

const maxRules = 20;
const maxExitCodes = 255;
const maxPatterns = 20;

/** Validates the policy for failures of a job's pods. */
export function validatePodFailurePolicy(
  spec: JobSpec,
  policy: PodFailurePolicy,
  path: FieldPath,
  errors: FieldError[],
): void {
  const rules = policy.rules ?? [];
  const at = path.child('rules');
  if (rules.length > maxRules) errors.push(tooMany(at, rules.length, maxRules));
  const { containers, initContainers } = spec.template.spec;
  const names = new Set([...(containers ?? []), ...(initContainers ?? [])].map((c) => c.name));
  rules.forEach((rule, i) => {
    validateRule(spec, rule, names, at.index(i), errors);
  });
}

function validateRule(
  spec: JobSpec,
  rule: PodFailurePolicyRule,
  containers: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (rule.action === '') {
    errors.push(required(path.child('action'), 'valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'));
  } else checkOneOf(rule.action, ['Count', 'FailIndex', 'FailJob', 'Ignore'], path.child('action'), errors);
  if (rule.action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    errors.push(invalid(path.child('action'), rule.action, 'requires the backoffLimitPerIndex to be set'));
  }
  const patterns = rule.onPodConditions ?? [];
  if (rule.onExitCodes !== undefined)
    validateExitCodes(rule.onExitCodes, containers, path.child('onExitCodes'), errors);
  if (patterns.length > maxPatterns) errors.push(tooMany(path.child('onPodConditions'), patterns.length, maxPatterns));
  patterns.forEach((pattern, i) => {
    const at = path.child('onPodConditions').index(i);
    for (const m of isQualifiedName(pattern.type)) errors.push(invalid(at.child('type'), pattern.type, m));
    if (pattern.status === '') {
      errors.push(required(at.child('status'), 'valid values: ["False" "True" "Unknown"]'));
    } else checkOneOf(pattern.status, ['False', 'True', 'Unknown'], at.child('status'), errors);
  });
  if ((rule.onExitCodes === undefined) === (patterns.length === 0)) {
    const detail =
      patterns.length === 0
        ? 'specifying one of OnExitCodes and OnPodConditions is required'
        : 'specifying both OnExitCodes and OnPodConditions is not supported';
    errors.push(invalidOmitted(path, detail));
  }
}

function validateExitCodes(
  requirement: NonNullable<PodFailurePolicyRule['onExitCodes']>,
  containers: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { containerName, operator } = requirement;
  const values = requirement.values ?? [];
  const at = path.child('values');
  if (operator === '') errors.push(required(path.child('operator'), 'valid values: ["In" "NotIn"]'));
  else checkOneOf(operator, ['In', 'NotIn'], path.child('operator'), errors);
  if (containerName !== undefined && !containers.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(path.child('containerName'), containerName, detail));
  }
  if (values.length === 0) errors.push(invalid(at, requirement.values ?? null, 'at least one value is required'));
  else if (values.length > maxExitCodes) errors.push(tooMany(at, values.length, maxExitCodes));
  const seen = new Set<number>();
  let isOrdered = true;
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0) {
      errors.push(invalid(at.index(i), value, 'must not be 0 for the In operator'));
    }
    if (seen.has(value)) errors.push(duplicate(at.index(i), value));
    seen.add(value);
    if (i > 0 && (values[i - 1] as number) > value) isOrdered = false;
  });
  if (!isOrdered) errors.push(invalid(at, values, 'must be ordered'));
}

/** Validates the success policy of an indexed job. */
export function validateSuccessPolicy(
  spec: JobSpec,
  policy: SuccessPolicy,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (spec.completionMode !== 'Indexed') {
    errors.push(invalid(path, policy, 'requires indexed completion mode'));
    return;
  }
  const rules = policy.rules ?? [];
  const at = path.child('rules');
  if (rules.length === 0)
    errors.push(required(at, 'at least one rules must be specified when the successPolicy is specified'));
  if (rules.length > maxRules) errors.push(tooMany(at, rules.length, maxRules));
  const completions = spec.completions ?? 0;
  rules.forEach(({ succeededIndexes, succeededCount }, i) => {
    const rulePath = at.index(i);
    if (succeededIndexes === undefined && succeededCount === undefined) {
      errors.push(required(rulePath, 'at least one of succeededCount or succeededIndexes must be specified'));
    }
    let indexCount: number | undefined;
    if (succeededIndexes !== undefined) {
      const ranges = parseIndexes(succeededIndexes, completions);
      if (typeof ranges === 'string') {
        const detail = `error parsing succeededIndexes: ${ranges}`;
        errors.push(invalid(rulePath.child('succeededIndexes'), succeededIndexes, detail));
        indexCount = 0;
      } else indexCount = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    }
    if (succeededCount === undefined) return;
    const countPath = rulePath.child('succeededCount');
    checkNonNegative(succeededCount, countPath, errors);
    const limits = [
      [completions, 'the number of specified completions'],
      [indexCount ?? completions, 'the number of indexes in the specified succeededIndexes field'],
    ] as const;
    for (const [limit, noun] of limits.slice(0, indexCount === undefined ? 1 : 2)) {
      if (succeededCount <= limit) continue;
      errors.push(invalid(countPath, succeededCount, `must be less than or equal to ${limit} (${noun})`));
    }
  });
}
