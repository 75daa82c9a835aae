import type { PodAffinityTerm } from '../apis/core/v1/affinity.types.js';
import {
  type LabelRequirement,
  type LabelSelector,
  type Labels,
  labelSelectorFromObject,
  nothing,
  selectorOf,
} from '../machinery/label-selector.js';

/** What the terms of other pods look at. */
export interface LabelledPod {
  readonly namespace: string;
  readonly labels: Labels;
}

/** The labels of a namespace; undefined when it is not known. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

/** A term of inter-pod affinity, ready to be compared. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly weight: number;
  /** Whether the term is about this pod. */
  matches(pod: LabelledPod, namespaceLabels: NamespaceLabels): boolean;
}

/** A selector, narrowed by the values that the pod itself has for some keys. */
export function narrowedSelector(
  selector: Parameters<typeof labelSelectorFromObject>[0],
  own: Labels,
  matchKeys: readonly string[] = [],
  mismatchKeys: readonly string[] = [],
): LabelSelector {
  if (selector === undefined || selector === null) return nothing;
  const base = labelSelectorFromObject(selector);
  const added: LabelRequirement[] = [];
  const has = (key: string) => Object.hasOwn(own, key);
  for (const key of matchKeys) {
    if (has(key)) added.push({ key, operator: 'in', values: new Set([own[key] as string]) });
  }
  for (const key of mismatchKeys) {
    if (has(key)) added.push({ key, operator: 'notin', values: new Set([own[key] as string]) });
  }
  return added.length === 0 ? base : selectorOf([...base.requirements, ...added]);
}

/** A term of a pod with these labels in this namespace. */
export function affinityTerm(term: PodAffinityTerm, owner: LabelledPod, weight = 0): AffinityTerm {
  const { labelSelector, namespaces = [], namespaceSelector, topologyKey, matchLabelKeys, mismatchLabelKeys } = term;
  const selector = narrowedSelector(labelSelector, owner.labels, matchLabelKeys, mismatchLabelKeys);
  const byLabels = labelSelectorFromObject(namespaceSelector ?? undefined);
  const isOwnOnly = namespaces.length === 0 && (namespaceSelector === undefined || namespaceSelector === null);
  const named = new Set(isOwnOnly ? [owner.namespace] : namespaces);
  return {
    topologyKey,
    weight,
    matches: (pod, namespaceLabels) =>
      selector.matches(pod.labels) &&
      (named.has(pod.namespace) || (byLabels !== nothing && byLabels.matches(namespaceLabels(pod.namespace)))),
  };
}
