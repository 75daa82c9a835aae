import type { Filter } from '../filter.js';
import { nodeAffinity, nodeName, nodePorts, nodeUnschedulable, taintToleration } from './node-filters.js';
import { resourcesFit } from './resources.js';

/** All filters in the order in which they are asked: the first refusal is the one that is told. */
export const filters: readonly Filter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  resourcesFit,
];
