import { mostScore, type Score, stretched } from '../score.js';
import { isTolerated } from '../tolerations.js';

/** Prefers nodes that match the pod's preferred node affinity. */
export const nodeAffinityScore: Score = {
  name: 'NodeAffinity',
  weight: 2,
  of({ preferredNodes }, nodes) {
    if (preferredNodes.length === 0) return undefined;
    const weightOf = (node: (typeof nodes)[number]) => {
      let sum = 0;
      for (const { weight, test } of preferredNodes) if (test(node)) sum += weight;
      return sum;
    };
    return stretched(nodes.map(weightOf));
  },
};

/** Prefers nodes with few soft taints. */
export const taintTolerationScore: Score = {
  name: 'TaintToleration',
  weight: 3,
  of({ tolerations }, nodes) {
    const counts = nodes.map(
      ({ taints }) =>
        taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)).length,
    );
    // The same score for every node decides nothing.
    return counts.every((count) => count === 0) ? undefined : stretched(counts, true);
  },
};

const mebibyte = 1024 * 1024;
const leastImageBytes = 23 * mebibyte;
const mostImageBytes = 1000 * mebibyte;

/** The name under which nodes list an image. */
function listedName(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}

/** Prefers nodes that have the pod's images already; rare images count less, so that they don't attract everything. */
export const imageLocality: Score = {
  name: 'ImageLocality',
  weight: 1,
  of({ pod }, nodes, cluster) {
    const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
    const images = containers
      .map(({ image = '' }) => listedName(image))
      .map((name) => ({ name, share: cluster.nodesWithImage(name) / cluster.nodes.length }))
      .filter(({ share }) => share > 0);
    if (images.length === 0) return undefined;
    const most = mostImageBytes * containers.length;
    return nodes.map((node) => {
      let sum = 0;
      for (const { name, share } of images) sum += Math.trunc((node.images.get(name) ?? 0) * share);
      const bounded = Math.min(Math.max(sum, leastImageBytes), most);
      return Math.trunc((mostScore * (bounded - leastImageBytes)) / (most - leastImageBytes));
    });
  },
};
