import type { LabelSelector } from '../../../objects/apis/meta/v1/selector.types.js';

/** A label selector in the notation that tables of bindings show. */
export function selectorText({ matchLabels = {}, matchExpressions }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = (matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
  );
  const shown = `MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},`;
  return `&LabelSelector{${shown}}`;
}
