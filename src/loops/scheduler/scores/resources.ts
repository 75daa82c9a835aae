import type { NodeInfo } from '../node-info.js';
import type { PodInfo } from '../pod-info.js';
import { mostScore, type Score } from '../score.js';

function free(requested: number, whole: number): number {
  return whole === 0 || requested > whole ? 0 : Math.trunc(((whole - requested) * mostScore) / whole);
}

function leastAllocatedOn({ scored }: PodInfo, { allocatable, scoredCpu, scoredMemory }: NodeInfo): number {
  let sum = 0;
  let weights = 0;
  if (allocatable.milliCpu > 0) {
    sum += free(scoredCpu + scored.milliCpu, allocatable.milliCpu);
    weights += 1;
  }
  if (allocatable.memory > 0) {
    sum += free(scoredMemory + scored.memory, allocatable.memory);
    weights += 1;
  }
  return weights === 0 ? 0 : Math.trunc(sum / weights);
}

/** Prefers nodes with the most free CPU and memory. */
export const leastAllocated: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  of: (pod, nodes) => nodes.map((node) => leastAllocatedOn(pod, node)),
};

function balanceOn({ requests }: PodInfo, { allocatable, requested }: NodeInfo): number {
  const shares: number[] = [];
  if (allocatable.milliCpu > 0) {
    shares.push(Math.min(1, (requested.milliCpu + requests.milliCpu) / allocatable.milliCpu));
  }
  if (allocatable.memory > 0) shares.push(Math.min(1, (requested.memory + requests.memory) / allocatable.memory));
  const [cpu, memory] = shares;
  const spread = cpu === undefined || memory === undefined ? 0 : Math.abs(cpu - memory) / 2;
  return Math.trunc((1 - spread) * mostScore);
}

/** Prefers nodes whose CPU and memory would be used to a similar share. */
export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  of(pod, nodes) {
    if (pod.requests.milliCpu === 0 && pod.requests.memory === 0) return undefined;
    return nodes.map((node) => balanceOn(pod, node));
  },
};
