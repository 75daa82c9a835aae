import {
  type LabelRequirement,
  type LabelSelector,
  type Labels,
  labelSelectorFromObject,
  nothing,
  SelectorError,
  selectorOf,
} from '../../base/machinery/label-selector.js';
import type { PodAffinityTerm } from '../../objects/apis/core/v1/affinity.types.js';

/** The inputs for matching terms of other pods. */
export interface LabelledPod {
  readonly namespace: string;
  readonly labels: Labels;
}

/** The labels of a namespace; undefined when it is not known. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

/** A term of inter-pod affinity, ready to be compared. */
export interface AffinityTerm {
  /** A key that is the same for equal terms. */
  readonly key: string;
  readonly topologyKey: string;
  readonly weight: number;
  /** Whether the term matches this pod. */
  matches(pod: LabelledPod, namespaceLabels: NamespaceLabels): boolean;
}

/** The values that a pod itself has for some keys, as requirements of its selectors. */
function ownRequirements(
  own: Labels,
  matchKeys: readonly string[] = [],
  mismatchKeys: readonly string[] = [],
): LabelRequirement[] {
  const of = (operator: 'in' | 'notin') => (key: string) =>
    Object.hasOwn(own, key) ? [{ key, operator, values: [own[key] as string] }] : [];
  return [...matchKeys.flatMap(of('in')), ...mismatchKeys.flatMap(of('notin'))];
}

type SelectorObject = Parameters<typeof labelSelectorFromObject>[0];

/** A selector; an invalid one, which validation refuses, selects nothing. */
export function selectorFrom(selector: SelectorObject): LabelSelector {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (error instanceof SelectorError) return nothing;
    throw error;
  }
}

/**
 * A selector, narrowed by the values that the pod itself has for some keys, and a string that is equal for equal
 * selectors.
 */
export function narrowedSelector(
  selector: SelectorObject,
  own: Labels,
  matchKeys?: readonly string[],
  mismatchKeys?: readonly string[],
): { readonly selector: LabelSelector; readonly text: string } {
  if (selector === undefined || selector === null) return { selector: nothing, text: '-' };
  const base = selectorFrom(selector);
  const added = ownRequirements(own, matchKeys, mismatchKeys);
  const text = JSON.stringify([selector, added.map(({ key, operator, values }) => [key, operator, ...values])]);
  return { selector: added.length === 0 ? base : selectorOf([...base.requirements, ...added]), text };
}

/** A term of a pod with these labels in this namespace. */
export function affinityTerm(term: PodAffinityTerm, owner: LabelledPod, weight = 0): AffinityTerm {
  const { labelSelector, namespaces = [], namespaceSelector, topologyKey, matchLabelKeys, mismatchLabelKeys } = term;
  const { selector, text } = narrowedSelector(labelSelector, owner.labels, matchLabelKeys, mismatchLabelKeys);
  const hasSelector = namespaceSelector !== undefined && namespaceSelector !== null;
  const byLabels = hasSelector ? selectorFrom(namespaceSelector) : nothing;
  const named = new Set(namespaces.length === 0 && !hasSelector ? [owner.namespace] : namespaces);
  return {
    key: JSON.stringify([topologyKey, weight, [...named], hasSelector ? namespaceSelector : 0, text]),
    topologyKey,
    weight,
    // Most pods are in other namespaces: their labels need no check.
    matches: (pod, namespaceLabels) =>
      (hasSelector || named.has(pod.namespace)) &&
      selector.matches(pod.labels) &&
      (named.has(pod.namespace) || byLabels.matches(namespaceLabels(pod.namespace))),
  };
}
