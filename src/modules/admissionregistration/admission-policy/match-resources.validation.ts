import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isPathSegmentName } from '../../../base/machinery/names.js';
import type { MatchResources } from '../../../objects/apis/admissionregistration/v1/rule.types.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { validateRule } from '../webhook-configuration/webhook-rules.validation.js';

const changingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const matchPolicies = ['Equivalent', 'Exact'];

/** Fills in the missing criteria of a policy or a binding. */
export function applyMatchDefaults(resources: MatchResources | undefined): void {
  if (resources === undefined) return;
  resources.matchPolicy ??= 'Equivalent';
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  for (const rule of [...(resources.resourceRules ?? []), ...(resources.excludeResourceRules ?? [])])
    rule.scope ??= '*';
}

/**
 * Validates the criteria by which a policy or a binding chooses requests. `changesObjects`: whether the policy changes
 * objects, which those of deletes cannot be.
 */
export function validateMatchResources(
  resources: MatchResources,
  path: FieldPath,
  errors: FieldError[],
  changesObjects = false,
): void {
  const { matchPolicy, namespaceSelector, objectSelector } = resources;
  if (matchPolicy === undefined) errors.push(required(path.child('matchPolicy')));
  else if (!matchPolicies.includes(matchPolicy)) {
    errors.push(notSupported(path.child('matchPolicy'), matchPolicy, matchPolicies));
  }
  errors.push(...validateLabelSelector(namespaceSelector, path.child('namespaceSelector')));
  errors.push(...validateLabelSelector(objectSelector, path.child('objectSelector')));
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [i, rule] of (resources[list] ?? []).entries()) {
      const at = path.child(list).index(i);
      validateNames(rule.resourceNames ?? [], at.child('resourceNames'), errors);
      errors.push(...validateRule(rule, at));
    }
  }
  if (!changesObjects) return;
  for (const { operations } of resources.resourceRules ?? []) {
    for (const operation of operations ?? []) {
      if (changingOperations.includes(operation)) continue;
      errors.push(notSupported(path.child('resourceRules').child('operations'), operation, changingOperations));
    }
  }
}

function validateNames(names: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>();
  for (const [i, name] of names.entries()) {
    for (const message of isPathSegmentName(name)) errors.push(invalid(path.index(i), name, message));
    if (seen.has(name)) errors.push(duplicate(path.index(i), name));
    seen.add(name);
  }
}
