import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { validateLabelName } from '../../../../../base/machinery/label-rules.js';
import { isDns1123Label, isDns1123Subdomain, isValidLabelValue } from '../../../../../base/machinery/names.js';
import type { LabelSelector } from '../../../meta/v1/selector.types.js';
import { validateLabelSelector } from '../../../meta/v1/validation/label-selector.validation.js';
import type {
  Affinity,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '../affinity.types.js';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../node-selector.types.js';
import type { PodSpec } from '../pod-spec.types.js';
import { checkOneOf, checkText } from './common.validation.js';

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution';
const badOperator = 'not a valid selector operator';

/** Validates a pod's affinities, if set. */
export function validateAffinity(affinity: Affinity | undefined, path: FieldPath, errors: FieldError[]): void {
  if (affinity === undefined) return;
  if (affinity.nodeAffinity !== undefined) {
    validateNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity'), errors);
  }
  if (affinity.podAffinity !== undefined) {
    validatePodAffinity(affinity.podAffinity, path.child('podAffinity'), errors);
  }
  if (affinity.podAntiAffinity !== undefined) {
    validatePodAffinity(affinity.podAntiAffinity, path.child('podAntiAffinity'), errors);
  }
}

function validateNodeAffinity(affinity: NodeAffinity, path: FieldPath, errors: FieldError[]): void {
  const selector = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  if (selector !== undefined) validateNodeSelector(selector, path.child(requiredTerms), errors);
  affinity.preferredDuringSchedulingIgnoredDuringExecution?.forEach((term, i) => {
    const at = path.child(preferredTerms).index(i);
    checkWeight(term.weight, at, errors);
    validateNodeSelectorTerm(term.preference, at.child('preference'), errors);
  });
}

function checkWeight(weight: number, path: FieldPath, errors: FieldError[]): void {
  if (weight < 1 || weight > 100) errors.push(invalid(path.child('weight'), weight, 'must be in the range 1-100'));
}

/**
 * Validates a node selector: at least one term, each with valid requirements. `checksValues`: whether their values must
 * be valid values of labels.
 */
export function validateNodeSelector(
  selector: NodeSelector,
  path: FieldPath,
  errors: FieldError[],
  checksValues = true,
): void {
  const terms = selector.nodeSelectorTerms ?? [];
  const at = path.child('nodeSelectorTerms');
  if (terms.length === 0) errors.push(required(at, 'must have at least one node selector term'));
  terms.forEach((term, i) => {
    validateNodeSelectorTerm(term, at.index(i), errors);
    if (checksValues) checkRequirementValues(term, at.index(i), errors);
  });
}

function checkRequirementValues(term: NodeSelectorTerm, path: FieldPath, errors: FieldError[]): void {
  term.matchExpressions?.forEach(({ values }, i) => {
    values?.forEach((value, j) => {
      checkText(value, isValidLabelValue, path.child('matchExpressions').index(i).child('values').index(j), errors);
    });
  });
}

/** Validates one term of a node selector. */
function validateNodeSelectorTerm(term: NodeSelectorTerm, path: FieldPath, errors: FieldError[]): void {
  term.matchExpressions?.forEach((requirement, i) => {
    validateNodeRequirement(requirement, path.child('matchExpressions').index(i), errors);
  });
  term.matchFields?.forEach((requirement, i) => {
    validateNodeFieldRequirement(requirement, path.child('matchFields').index(i), errors);
  });
}

function validateNodeRequirement(requirement: NodeSelectorRequirement, path: FieldPath, errors: FieldError[]): void {
  const count = requirement.values?.length ?? 0;
  const at = path.child('values');
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (count === 0) errors.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0) {
        errors.push(forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
      break;
    case 'Gt':
    case 'Lt':
      if (count !== 1) errors.push(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      break;
    default:
      errors.push(invalid(path.child('operator'), requirement.operator, badOperator));
  }
  errors.push(...validateLabelName(requirement.key, path.child('key')));
}

function validateNodeFieldRequirement(
  requirement: NodeSelectorRequirement,
  path: FieldPath,
  errors: FieldError[],
): void {
  const values = requirement.values ?? [];
  if (requirement.operator !== 'In' && requirement.operator !== 'NotIn') {
    errors.push(invalid(path.child('operator'), requirement.operator, badOperator));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(path.child('values'), detail));
  }
  if (requirement.key !== 'metadata.name') {
    errors.push(invalid(path.child('key'), requirement.key, 'not a valid field selector key'));
    return;
  }
  values.forEach((value, i) => {
    checkText(value, isDns1123Subdomain, path.child('values').index(i), errors);
  });
}

function validatePodAffinity(affinity: PodAffinity, path: FieldPath, errors: FieldError[]): void {
  affinity.requiredDuringSchedulingIgnoredDuringExecution?.forEach((term, i) => {
    validatePodAffinityTerm(term, path.child(requiredTerms).index(i), errors);
  });
  affinity.preferredDuringSchedulingIgnoredDuringExecution?.forEach((term, i) => {
    const at = path.child(preferredTerms).index(i);
    checkWeight(term.weight, at, errors);
    validatePodAffinityTerm(term.podAffinityTerm, at.child('podAffinityTerm'), errors);
  });
}

function validatePodAffinityTerm(term: PodAffinityTerm, path: FieldPath, errors: FieldError[]): void {
  errors.push(...validateLabelSelector(term.labelSelector, path.child('labelSelector')));
  errors.push(...validateLabelSelector(term.namespaceSelector, path.child('namespaceSelector')));
  for (const name of term.namespaces ?? []) checkText(name, isDns1123Label, path.child('namespace'), errors);
  const mismatched = new Set(term.mismatchLabelKeys);
  checkLabelKeys(term.matchLabelKeys, term.labelSelector, path.child('matchLabelKeys'), errors);
  checkLabelKeys(term.mismatchLabelKeys, term.labelSelector, path.child('mismatchLabelKeys'), errors);
  checkRepeatedKeys(term.matchLabelKeys, term.labelSelector, path, errors);
  term.matchLabelKeys?.forEach((key, i) => {
    if (!mismatched.has(key)) return;
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.push(invalid(path.child('matchLabelKeys').index(i), key, detail));
  });
  const topologyKeyPath = path.child('topologyKey');
  if (term.topologyKey === '') errors.push(required(topologyKeyPath, 'can not be empty'));
  errors.push(...validateLabelName(term.topologyKey, topologyKeyPath));
}

function checkLabelKeys(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (keys === undefined || keys.length === 0) return;
  if (selector === undefined) {
    errors.push(forbidden(path, 'must not be specified when labelSelector is not set'));
    return;
  }
  keys.forEach((key, i) => {
    errors.push(...validateLabelName(key, path.index(i)));
  });
}

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Validates tolerations of taints. */
export function validateTolerations(tolerations: readonly Toleration[], path: FieldPath, errors: FieldError[]): void {
  tolerations.forEach((toleration, i) => {
    const at = path.index(i);
    const { key = '', value = '', effect = '', operator = '' } = toleration;
    const operatorPath = at.child('operator');
    if (key !== '') errors.push(...validateLabelName(key, at.child('key')));
    if (key === '' && operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalid(operatorPath, operator, detail));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalid(at.child('effect'), effect, detail));
    }
    if (operator === 'Equal' || operator === '') {
      const messages = isValidLabelValue(value);
      if (messages.length > 0) errors.push(invalid(operatorPath, value, messages.join(';')));
    } else if (operator === 'Exists') {
      if (value !== '') errors.push(invalid(operatorPath, value, "value must be empty when `operator` is 'Exists'"));
    } else {
      // As the release names them, although it takes the last two with a feature gate only.
      const numeric = operator === 'Lt' || operator === 'Gt';
      errors.push(notSupported(operatorPath, operator, ['Equal', 'Exists', ...(numeric ? ['Lt', 'Gt'] : [])]));
    }
    if (effect !== '') checkOneOf(effect, effects, at.child('effect'), errors);
  });
}

/** Validates how pods are spread over topologies. */
export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const pairOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint) =>
    JSON.stringify([topologyKey, whenUnsatisfiable]);
  const lastPlaces = new Map(constraints.map((constraint, i) => [pairOf(constraint), i]));
  constraints.forEach((constraint, i) => {
    const at = path.index(i);
    const { maxSkew, minDomains, topologyKey, whenUnsatisfiable } = constraint;
    if (maxSkew <= 0) errors.push(invalid(at.child('maxSkew'), maxSkew, 'must be greater than zero'));
    if (topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'));
    checkOneOf(whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'], at.child('whenUnsatisfiable'), errors);
    if (lastPlaces.get(pairOf(constraint)) !== i) {
      const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
      errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), pair));
    }
    if (minDomains !== undefined) checkMinDomains(minDomains, whenUnsatisfiable, at.child('minDomains'), errors);
    for (const name of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy = constraint[name];
      if (policy !== undefined) checkOneOf(policy, ['Honor', 'Ignore'], at.child(name), errors);
    }
    checkLabelKeys(constraint.matchLabelKeys, constraint.labelSelector, at.child('matchLabelKeys'), errors);
    errors.push(...validateLabelSelector(constraint.labelSelector, at.child('labelSelector')));
  });
}

function checkMinDomains(count: number, action: string, path: FieldPath, errors: FieldError[]): void {
  if (count <= 0) errors.push(invalid(path, count, 'must be greater than zero'));
  if (action !== 'DoNotSchedule') {
    const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
    errors.push(invalid(path, count, detail));
  }
}

/**
 * Checks the label keys of the constraints of a new pod, whose labels have been merged into the expressions of the
 * selectors: these must not have the keys already.
 */
export function validateMergedKeys({ topologySpreadConstraints = [] }: PodSpec, path: FieldPath): FieldError[] {
  return topologySpreadConstraints.flatMap(({ matchLabelKeys = [], labelSelector }, i) => {
    const errors: FieldError[] = [];
    checkRepeatedKeys(matchLabelKeys, labelSelector, path.child('topologySpreadConstraints').index(i), errors);
    return errors;
  });
}

/** Checks that a selector has only one requirement on each of the keys. */
function checkRepeatedKeys(
  keys: readonly string[] = [],
  selector: LabelSelector | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key } of selector?.matchExpressions ?? []) {
    if (keys.includes(key) && seen.has(key)) {
      errors.push(invalid(path.index(keys.lastIndexOf(key)), key, 'exists in both matchLabelKeys and labelSelector'));
    }
    seen.add(key);
  }
}
