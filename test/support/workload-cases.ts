import { qualifiedRule, valueRule } from './pod-rules.js';

/** A part of an object, and the causes for which it is refused. */
export type Case = readonly [part: Record<string, unknown>, causes: readonly string[]];

/** Fields that every workload of the group `apps` accepts. */
export const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'img:1' }] } };
export const selector = { matchLabels: { a: 'b' } };

/** The differences between kinds whose selector is missing or has faults. */
export interface SelectorTexts {
  /** The kind as the refusal of an empty selector names it. */
  readonly kind: string;
  readonly isRequired: boolean;
  /** An additional cause for a selector with faults; default: none. */
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
