import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../../../base/machinery/field-error.js';
import type { Container } from '../container.types.js';
import type { PodSpec } from '../pod-spec.types.js';
import { checkOneOf } from './common.validation.js';

const maxRules = 20;
const maxExitCodes = 255;

/** Validates the restart policy of a container, which its restart rules need. */
export function validateRestartPolicy(container: Container, path: FieldPath, errors: FieldError[]): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined) {
    checkOneOf(restartPolicy, ['Always', 'Never', 'OnFailure'], path.child('restartPolicy'), errors);
  } else if (restartPolicyRules.length > 0) {
    errors.push(required(path.child('restartPolicy'), 'must specify restartPolicy when restart rules are used'));
  }
}

/** Validates the restart policy of a container, and the rules that make exceptions from it. */
export function validateContainerRestarts(container: Container, path: FieldPath, errors: FieldError[]): void {
  validateRestartPolicy(container, path, errors);
  const { restartPolicyRules = [] } = container;
  const rulesPath = path.child('restartPolicyRules');
  if (restartPolicyRules.length > maxRules) errors.push(tooMany(rulesPath, restartPolicyRules.length, maxRules));
  restartPolicyRules.forEach(({ action, exitCodes }, i) => {
    const at = rulesPath.index(i);
    checkOneOf(action ?? '', ['Restart', 'RestartAllContainers'], at.child('action'), errors);
    if (exitCodes === undefined) {
      errors.push(required(at.child('exitCodes'), 'must be specified'));
      return;
    }
    checkOneOf(exitCodes.operator ?? '', ['In', 'NotIn'], at.child('exitCodes').child('operator'), errors);
    const count = (exitCodes.values ?? []).length;
    if (count > maxExitCodes) errors.push(tooMany(at.child('exitCodes').child('values'), count, maxExitCodes));
  });
}

/** Validates whether a container restarts when its resources change. */
export function validateResizePolicy({ resizePolicy = [] }: Container, path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>();
  resizePolicy.forEach(({ resourceName, restartPolicy }, i) => {
    if (seen.has(resourceName)) errors.push(duplicate(path.index(i), resourceName));
    seen.add(resourceName);
    // Like the reference, errors name the list here, not its elements.
    if (resourceName === '') errors.push(required(path));
    else if (resourceName !== 'cpu' && resourceName !== 'memory') {
      errors.push(notSupported(path, resourceName, ['cpu', 'memory']));
    }
    if (restartPolicy === '') errors.push(required(path));
    else checkOneOf(restartPolicy, ['NotRequired', 'RestartContainer'], path, errors);
  });
}

/**
 * Checks that no init container of a new pod or template restarts when its resources change, unless it is a sidecar. Not
 * meant for pods that were stored before this rule.
 */
export function validateInitRestarts({ initContainers = [] }: PodSpec, path: FieldPath): FieldError[] {
  return initContainers.flatMap(({ restartPolicy: life, resizePolicy = [] }, i) =>
    resizePolicy.flatMap(({ restartPolicy }, j) => {
      if (life === 'Always' || restartPolicy !== 'RestartContainer') return [];
      const at = path.child('initContainers').index(i).child('resizePolicy').index(j).child('restartPolicy');
      const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      return [invalid(at, restartPolicy, detail)];
    }),
  );
}
