import type { Score } from '../score.js';
import { imageLocality, nodeAffinity, taintToleration } from './node-scores.js';
import { balancedAllocation, leastAllocated } from './resources.js';

/** All scores, with the weights that the field has by default. */
export const scores: readonly Score[] = [
  taintToleration,
  nodeAffinity,
  leastAllocated,
  balancedAllocation,
  imageLocality,
];
