import type { Score } from '../score.js';
import { deviceAlternatives } from './device-alternatives.js';
import { interPodAffinity } from './inter-pod-affinity.js';
import { imageLocality, nodeAffinity, taintToleration } from './node-scores.js';
import { balancedAllocation, leastAllocated } from './resources.js';
import { topologySpread } from './topology-spread.js';

/** All scores, with upstream's default weights. */
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
