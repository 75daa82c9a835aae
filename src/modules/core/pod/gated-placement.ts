import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { NodeAffinity } from '../../../objects/apis/core/v1/affinity.types.js';
import type { NodeSelectorTerm } from '../../../objects/apis/core/v1/node-selector.types.js';
import type { PodSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';

const specPath = FieldPath.of('spec');
const termsPath = FieldPath.of(
  'spec',
  'affinity',
  'nodeAffinity',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms',
);

/**
 * While a pod has gates, it has not been placed: its placement can be narrowed, never widened. Reports changes that
 * widen it, and restores the changeable fields in `spec`, so that `spec` can be compared with the old one.
 */
export function keepPlacement(spec: PodSpec, old: PodSpec, errors: FieldError[]): void {
  keepNodeSelector(spec, old, errors);
  const before = old.affinity?.nodeAffinity;
  const now = spec.affinity?.nodeAffinity;
  if (deepEqual(now ?? null, before ?? null)) return;
  checkTerms(requiredTerms(now), requiredTerms(before), errors);
  const affinity = { ...spec.affinity };
  if (before === undefined) delete affinity.nodeAffinity;
  else affinity.nodeAffinity = before;
  if (Object.keys(affinity).length === 0 && old.affinity === undefined) delete spec.affinity;
  else spec.affinity = affinity;
}

function keepNodeSelector(spec: PodSpec, old: PodSpec, errors: FieldError[]): void {
  const { nodeSelector } = spec;
  const before = old.nodeSelector ?? {};
  if (Object.entries(before).some(([key, value]) => nodeSelector?.[key] !== value)) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.push(invalid(specPath.child('nodeSelector'), nodeSelector, detail));
  }
  if (old.nodeSelector === undefined) delete spec.nodeSelector;
  else spec.nodeSelector = old.nodeSelector;
}

function requiredTerms(affinity: NodeAffinity | undefined): readonly NodeSelectorTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** Terms are alternatives, so a further term would widen the choice; requirements within a term narrow it. */
function checkTerms(now: readonly NodeSelectorTerm[], old: readonly NodeSelectorTerm[], errors: FieldError[]): void {
  if (old.length === 0) return;
  if (now.length !== old.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    errors.push(invalid(termsPath, now.length === 0 ? null : now, detail));
    return;
  }
  now.forEach((term, i) => {
    if (extendsTerm(term, old[i] as NodeSelectorTerm)) return;
    errors.push(invalid(termsPath.index(i), term, 'only additions are allowed (no mutations or deletions)'));
  });
}

/**
 * Whether a term begins with all the requirements of another; a term without requirements matches nothing and must stay
 * empty.
 */
function extendsTerm(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const starts = <T>(list: readonly T[] = [], before: readonly T[] = []) =>
    before.every((requirement, i) => list[i] !== undefined && deepEqual(list[i], requirement));
  const count = (of: NodeSelectorTerm) => (of.matchExpressions ?? []).length + (of.matchFields ?? []).length;
  if (count(old) === 0 && count(term) > 0) return false;
  return starts(term.matchExpressions, old.matchExpressions) && starts(term.matchFields, old.matchFields);
}
