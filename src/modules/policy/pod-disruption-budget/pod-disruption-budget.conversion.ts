import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { LabelSelector } from '../../../objects/apis/meta/v1/selector.types.js';
import { isEmptySelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import type { PodDisruptionBudget } from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';

/**
 * An empty selector selects nothing in v1beta1 and everything in v1. A requirement on a label that no pod has expresses
 * the same in the other version: `Exists` selects nothing, `DoesNotExist` everything.
 */
export function emptySelectorLabel(names: VendorNames): string {
  return `pdb.${names.labelPrefix}/deprecated-v1beta1-empty-selector-match`;
}

/** Converts the selector of a v1beta1 budget to the same meaning in v1. Changes the budget. */
export function budgetFromV1beta1(budget: PodDisruptionBudget, label: string): void {
  const { selector } = budget.spec;
  if (selector === undefined) return;
  if (isEmptySelector(selector)) budget.spec.selector = requirementOn(label, 'Exists');
  else if (isOnly(selector, label, 'DoesNotExist')) budget.spec.selector = {};
}

/** Converts the selector of a v1 budget to the same meaning in v1beta1. Changes the budget. */
export function budgetToV1beta1(budget: PodDisruptionBudget, label: string): void {
  const { selector } = budget.spec;
  if (selector === undefined) return;
  if (isEmptySelector(selector)) budget.spec.selector = requirementOn(label, 'DoesNotExist');
  else if (isOnly(selector, label, 'Exists')) budget.spec.selector = {};
}

function requirementOn(key: string, operator: 'Exists' | 'DoesNotExist'): LabelSelector {
  return { matchExpressions: [{ key, operator }] };
}

function isOnly(selector: LabelSelector, key: string, operator: string): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const [only] = matchExpressions;
  return (
    Object.keys(matchLabels).length === 0 &&
    matchExpressions.length === 1 &&
    only?.key === key &&
    only.operator === operator &&
    (only.values ?? []).length === 0
  );
}
