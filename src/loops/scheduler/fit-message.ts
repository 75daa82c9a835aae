import type { NoNode } from './find-node.js';

/** The message for a node that was not checked because the pod names others. */
const elsewhere = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/** Counts of reasons as text, sorted: `1 Insufficient cpu, 2 node(s) were unschedulable`. */
function countedReasons(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(', ');
}

/** The sentence about a number of nodes, all of which refuse the pod. */
export function availability(nodes: number, counts: ReadonlyMap<string, number>): string {
  const reasons = countedReasons(counts);
  return `0/${nodes} nodes are available:${reasons === '' ? '' : ` ${reasons}.`}`;
}

/**
 * Why a pod can't be placed, in the words that people and programs search for.
 *
 * @param preemption the outcome of the preemption attempt, with its own full stop
 */
export function fitMessage({ nodes, refusals, ofPod }: NoNode, preemption = ''): string {
  if (nodes === 0) return 'no nodes available to schedule pods';
  let text: string;
  if (ofPod !== undefined) {
    text = `0/${nodes} nodes are available: ${ofPod.reasons.join(', ')}.`;
    // The release does not get to a preemption for a pod whose claims it can't use, and says so in these two words.
    if (ofPod.filter === 'VolumeBinding') return `${text} not found`;
  } else {
    const counts = new Map<string, number>();
    const count = (reason: string, times: number) => counts.set(reason, (counts.get(reason) ?? 0) + times);
    for (const { reasons } of refusals.values()) for (const reason of reasons) count(reason, 1);
    if (refusals.size < nodes) count(elsewhere, nodes - refusals.size);
    text = availability(nodes, counts);
  }
  return preemption === '' ? text : `${text} preemption: ${preemption}`;
}
