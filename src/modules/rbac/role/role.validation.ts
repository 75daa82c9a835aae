import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import type { AggregationRule, ClusterRole, PolicyRule, Role } from '../../../objects/apis/rbac/v1/role.types.js';

const rulesPath = FieldPath.of('rules');
const selectorsPath = FieldPath.of('aggregationRule', 'clusterRoleSelectors');

/** Validates a Role, new or changed. */
export function validateRole(role: Role): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, rule] of (role.rules ?? []).entries()) validateRule(rule, true, rulesPath.index(i), errors);
  return [...errors, ...missingVerbs(role.rules)];
}

/** Validates a ClusterRole, new or changed. */
export function validateClusterRole(role: ClusterRole): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, rule] of (role.rules ?? []).entries()) validateRule(rule, false, rulesPath.index(i), errors);
  if (role.aggregationRule !== undefined) validateAggregation(role.aggregationRule, errors);
  return [...errors, ...missingVerbs(role.rules)];
}

function missingVerbs(rules: readonly PolicyRule[] | null | undefined): FieldError[] {
  return (rules ?? []).flatMap(({ verbs }, i) =>
    (verbs ?? []).length === 0 ? [required(rulesPath.index(i).child('verbs'))] : [],
  );
}

function validateRule(rule: PolicyRule, isNamespaced: boolean, path: FieldPath, errors: FieldError[]): void {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (nonResourceURLs.length > 0) {
    const urlsPath = path.child('nonResourceURLs');
    if (isNamespaced) {
      errors.push(invalid(urlsPath, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.push(invalid(urlsPath, nonResourceURLs, detail));
    }
    return;
  }
  if (apiGroups.length === 0) {
    errors.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'));
  }
  if (resources.length === 0) {
    errors.push(required(path.child('resources'), 'resource rules must supply at least one resource'));
  }
}

function validateAggregation(rule: AggregationRule, errors: FieldError[]): void {
  const selectors = rule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
    errors.push(required(selectorsPath, detail));
  }
  for (const [i, selector] of selectors.entries()) {
    const broken = validateLabelSelector(selector, selectorsPath.index(i));
    errors.push(...broken);
    if (broken.length > 0) errors.push(invalid(selectorsPath.index(i), null, 'invalid label selector.'));
  }
}
