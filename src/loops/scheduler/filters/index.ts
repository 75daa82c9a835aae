import type { Filter } from '../filter.js';
import { dynamicResources } from './dynamic-resources.js';
import { interPodAffinityFilter } from './inter-pod-affinity.js';
import { nodeAffinityFilter, nodeName, nodePorts, nodeUnschedulable, taintTolerationFilter } from './node-filters.js';
import { placingLimits } from './placing-limits.js';
import { resourcesFit } from './resources.js';
import { topologySpreadFilter } from './topology-spread.js';
import { volumeBinding } from './volume-binding.js';
import { volumeLimits } from './volume-limits.js';
import { volumeRestrictions, volumeZone } from './volume-places.js';

/** All filters in the order in which they run: the first refusal is the one reported. */
export const filters: readonly Filter[] = [
  placingLimits,
  nodeUnschedulable,
  nodeName,
  taintTolerationFilter,
  nodeAffinityFilter,
  nodePorts,
  resourcesFit,
  volumeRestrictions,
  volumeLimits,
  volumeBinding,
  volumeZone,
  topologySpreadFilter,
  interPodAffinityFilter,
  dynamicResources,
];
