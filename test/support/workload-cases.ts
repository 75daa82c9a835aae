import { qualifiedRule, valueRule } from './pod-rules.js';

/** A part of an object, and the causes for which it is refused. */
export type Case = readonly [part: Record<string, unknown>, causes: readonly string[]];

/** Parts that every workload of the group `apps` takes. */
export const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'img:1' }] } };
export const selector = { matchLabels: { a: 'b' } };

/** How kinds differ where a selector is missing or has faults. */
export interface SelectorTexts {
  /** As the refusal of an empty selector names it. */
  readonly kind: string;
  readonly isRequired: boolean;
  /** What a selector with faults causes besides them; default: nothing. */
  readonly faulty?: (selector: string) => string;
}

/** New workloads whose selectors are missing, empty or faulty, or do not match the template. */
export function selectorCases({ kind, isRequired, faulty }: SelectorTexts): readonly Case[] {
  const broken = { matchLabels: { 'a b': 'c d' }, matchExpressions: [{ key: 'a', operator: 'Odd' }] };
  const mismatch =
    'FieldValueInvalid | spec.template.metadata.labels | Invalid value: {"a":"b"}: `selector` does not match template `labels`';
  return [
    [
      { spec: { template } },
      [...(isRequired ? ['FieldValueRequired | spec.selector | Required value'] : []), mismatch],
    ],
    [
      { spec: { selector: {}, template } },
      [`FieldValueInvalid | spec.selector | Invalid value: {}: empty selector is invalid for ${kind}`],
    ],
    [
      { spec: { selector: broken, template } },
      [
        `FieldValueInvalid | spec.selector.matchLabels | Invalid value: "a b": ${qualifiedRule}`,
        `FieldValueInvalid | spec.selector.matchLabels | Invalid value: "c d": ${valueRule}`,
        'FieldValueInvalid | spec.selector.matchExpressions[0].operator | Invalid value: "Odd": not a valid selector operator',
        ...(faulty === undefined ? [] : [faulty(JSON.stringify(broken))]),
      ],
    ],
    [{ spec: { selector: { matchLabels: { x: 'y' } }, template } }, [mismatch]],
    [
      { spec: { selector } },
      [
        'FieldValueInvalid | spec.template.metadata.labels | Invalid value: null: `selector` does not match template `labels`',
        'FieldValueRequired | spec.template.spec.containers | Required value',
      ],
    ],
  ];
}
