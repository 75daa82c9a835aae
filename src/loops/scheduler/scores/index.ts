import type { Score } from '../score.js';
import { deviceAlternatives } from './device-alternatives.js';
import { interPodAffinity } from './inter-pod-affinity.js';
import { imageLocality, nodeAffinity, taintToleration } from './node-scores.js';
import { balancedAllocation, leastAllocated } from './resources.js';
import { topologySpread } from './topology-spread.js';

/** All scores, with their default weights upstream. */
export const scores: readonly Score[] = [
  taintToleration,
  nodeAffinity,
  topologySpread,
  interPodAffinity,
  leastAllocated,
  balancedAllocation,
  imageLocality,
  deviceAlternatives,
];
