import type { AffinityTerm } from '../affinity-terms.js';
import type { NodeCounts } from '../pod-counts.js';
import { aboutAll } from '../pod-counts.js';
import { mostScore, type Score } from '../score.js';

/** The weight of another pod's required affinity to this one. */
const requiredWeight = 1;

/**
 * Prefers topology domains by the preferred affinity and anti-affinity of the pod, and by that of the pods there to it.
 */
export const interPodAffinityScore: Score = {
  name: 'InterPodAffinity',
  weight: 2,
  of(pod, nodes, { counts, namespaceLabels }) {
    const worths = new Map<string, Map<string, number>>();
    const add = ({ topologyKey }: AffinityTerm, where: NodeCounts, weight: number) => {
      let values = worths.get(topologyKey);
      if (values === undefined) {
        values = new Map();
        worths.set(topologyKey, values);
      }
      for (const [{ labels }, count] of where) {
        if (!Object.hasOwn(labels, topologyKey)) continue;
        const value = labels[topologyKey] as string;
        values.set(value, (values.get(value) ?? 0) + count * weight);
      }
    };
    const found = (term: AffinityTerm) => counts.of(`all ${term.key}`, aboutAll([term], namespaceLabels));
    for (const term of pod.preferredAffinity) add(term, found(term), term.weight);
    for (const term of pod.preferredAntiAffinity) add(term, found(term), -term.weight);
    for (const { term, nodes: where } of counts.termsOf('affinity')) {
      if (term.matches(pod, namespaceLabels)) add(term, where, requiredWeight);
    }
    for (const { term, nodes: where } of counts.termsOf('preferredAffinity')) {
      if (term.matches(pod, namespaceLabels)) add(term, where, term.weight);
    }
    for (const { term, nodes: where } of counts.termsOf('preferredAntiAffinity')) {
      if (term.matches(pod, namespaceLabels)) add(term, where, -term.weight);
    }
    if (worths.size === 0) return undefined;
    const sums = nodes.map(({ labels }) => {
      let sum = 0;
      for (const [key, values] of worths) if (Object.hasOwn(labels, key)) sum += values.get(labels[key] as string) ?? 0;
      return sum;
    });
    const least = Math.min(...sums);
    const range = Math.max(...sums) - least;
    return sums.map((sum) => (range === 0 ? 0 : Math.trunc((mostScore * (sum - least)) / range)));
  },
};
