import type { Score } from '../score.js';
import { deviceAlternatives } from './device-alternatives.js';
import { interPodAffinityScore } from './inter-pod-affinity.js';
import { imageLocality, nodeAffinityScore, taintTolerationScore } from './node-scores.js';
import { balancedAllocation, leastAllocated } from './resources.js';
import { topologySpreadScore } from './topology-spread.js';

/** All scores, with upstream's default weights. */
export const scores: readonly Score[] = [
  taintTolerationScore,
  nodeAffinityScore,
  topologySpreadScore,
  interPodAffinityScore,
  leastAllocated,
  balancedAllocation,
  imageLocality,
  deviceAlternatives,
];
