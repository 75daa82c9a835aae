import type { SchedulingView } from '../cluster.js';
import type { Filter, FilterRefusal } from '../filter.js';
import type { NodeInfo } from '../node-info.js';
import type { PodInfo } from '../pod-info.js';

/**
 * Why a node lacks capacity for a pod: too many pods, too little of a resource; final when even an empty node would not be
 * enough. Devices may stand for an extended resource that the node itself does not have.
 */
function shortages(
  { requests }: PodInfo,
  node: NodeInfo,
  { clusterObjects }: SchedulingView,
): FilterRefusal | undefined {
  let reasons: string[] | undefined;
  let isFinal = false;
  const note = (reason: string, neverFits: boolean) => {
    reasons ??= [];
    reasons.push(reason);
    isFinal ||= neverFits;
  };
  const { allocatable, requested } = node;
  if (node.pods.size + 1 > node.mostPods) note('Too many pods', node.mostPods < 1);
  const { milliCpu, memory, ephemeralStorage, others } = requests;
  if (milliCpu > 0 && milliCpu > allocatable.milliCpu - requested.milliCpu) {
    note('Insufficient cpu', milliCpu > allocatable.milliCpu);
  }
  if (memory > 0 && memory > allocatable.memory - requested.memory) {
    note('Insufficient memory', memory > allocatable.memory);
  }
  if (ephemeralStorage > 0 && ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage) {
    note('Insufficient ephemeral-storage', ephemeralStorage > allocatable.ephemeralStorage);
  }
  for (const [name, amount] of others) {
    const whole = allocatable.others.get(name) ?? 0;
    if (whole === 0 && clusterObjects.devices?.classOfResource(name) !== undefined) continue;
    if (amount > 0 && amount > whole - (requested.others.get(name) ?? 0)) note(`Insufficient ${name}`, amount > whole);
  }
  return reasons && { filter: 'NodeResourcesFit', reasons, isFinal };
}

/**
 * Whether a node has space for one more pod and for the resource it most likely lacks; may be true for a node that
 * refuses the pod, but is quick.
 */
export function fitsResources({ requests }: PodInfo, { allocatable, requested, pods, mostPods }: NodeInfo): boolean {
  const { milliCpu, memory } = requests;
  return (
    pods.size < mostPods &&
    (milliCpu === 0 || milliCpu <= allocatable.milliCpu - requested.milliCpu) &&
    (memory === 0 || memory <= allocatable.memory - requested.memory)
  );
}

/** Requires space for one more pod and for everything that it requests. */
export const resourcesFit: Filter = {
  name: 'NodeResourcesFit',
  prepare: (pod, cluster) => ({ check: (node) => shortages(pod, node, cluster) }),
};
