import {
  type LabelRequirement,
  type Labels,
  selectorOf,
  labelRequirement as selectorRequirement,
} from '../../base/machinery/label-selector.js';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../objects/apis/core/v1/node-selector.types.js';
import type { PodSpec } from '../../objects/apis/core/v1/pod-spec.types.js';

/** The inputs for choosing a node. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

/** Whether a node is acceptable. */
export type NodeTest = (node: SelectableNode) => boolean;

const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!', Gt: '>', Lt: '<' } as const;

function labelRequirement({ key, operator, values }: NodeSelectorRequirement): LabelRequirement {
  return selectorRequirement(key, operators[operator as keyof typeof operators], values ?? []);
}

/** Requirements that can never be met: a bound that is not a number, or no values where some are required. */
function isHopeless({ operator, values }: NodeSelectorRequirement): boolean {
  const count = values?.length ?? 0;
  switch (operator as string) {
    case 'Gt':
    case 'Lt':
      return count !== 1 || !/^[+-]?\d+$/.test(values?.[0] as string);
    case 'In':
    case 'NotIn':
      return count === 0;
    default:
      return !(operator in operators);
  }
}

/** A term of a node selector; one without requirements matches no node. */
export function nodeTermTest({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeTest {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  if (matchExpressions.some(isHopeless) || matchFields.some(isHopeless)) return () => false;
  const labels = selectorOf(matchExpressions.map(labelRequirement));
  const fields = selectorOf(matchFields.map(labelRequirement));
  const readsFields = matchFields.length > 0;
  return (node) => labels.matches(node.labels) && (!readsFields || fields.matches({ 'metadata.name': node.name }));
}

/** The terms of a node selector, of which one has to match. */
export function nodeTermsTest(terms: readonly NodeSelectorTerm[]): NodeTest {
  const tests = terms.map(nodeTermTest);
  return (node) => tests.some((test) => test(node));
}

/** The nodes that a pod demands with its node selector and its required affinity; undefined: any. */
export function requiredNodes({ nodeSelector, affinity }: PodSpec): NodeTest | undefined {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const pairs = Object.entries(nodeSelector ?? {});
  if (pairs.length === 0 && required == null) return undefined;
  const terms = required == null ? undefined : nodeTermsTest(required.nodeSelectorTerms ?? []);
  return (node) =>
    pairs.every(([key, value]) => Object.hasOwn(node.labels, key) && node.labels[key] === value) &&
    (terms === undefined || terms(node));
}

/**
 * The names of the only nodes that the pod's required affinity can choose, when every term names nodes; undefined when
 * the choice is not by name.
 */
export function namedNodes({ affinity }: PodSpec): ReadonlySet<string> | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const sets = matchFields
      .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      .map(({ values }) => new Set(values ?? []));
    const [first, ...others] = sets;
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((set) => set.has(name))) names.add(name);
  }
  return names;
}
