import type { PodAffinity, PodAffinityTerm } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { LabelSelector } from '../../../objects/apis/meta/v1/selector.types.js';

/**
 * Adds the label keys of a new pod to its selectors: pods with the same values as this one, or with others. The present
 * values of the labels are used, so that all readers select the same pods. Changes `pod`.
 */
export function applyLabelKeys({ metadata, spec }: Pod): void {
  const labels = metadata.labels ?? {};
  const add = (selector: LabelSelector, keys: readonly string[] | undefined, operator: 'In' | 'NotIn') => {
    for (const key of keys ?? []) {
      const value = labels[key];
      if (value === undefined) continue;
      selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [value] }];
    }
  };
  const addToTerm = ({ labelSelector, matchLabelKeys, mismatchLabelKeys }: PodAffinityTerm) => {
    if (labelSelector === undefined) return;
    add(labelSelector, matchLabelKeys, 'In');
    add(labelSelector, mismatchLabelKeys, 'NotIn');
  };
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    for (const term of termsOf(affinity)) addToTerm(term);
  }
  for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) {
    if (labelSelector !== undefined) add(labelSelector, matchLabelKeys, 'In');
  }
}

function termsOf(affinity: PodAffinity | undefined): PodAffinityTerm[] {
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...preferred.map((term) => term.podAffinityTerm),
  ];
}
