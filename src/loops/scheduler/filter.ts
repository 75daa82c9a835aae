import type { SchedulingView } from './cluster.js';
import type { NodeInfo } from './node-info.js';
import type { PodInfo } from './pod-info.js';

/** The filters by their upstream names. Events that may end a refusal are matched by these names. */
export type FilterName =
  | 'NodeUnschedulable'
  | 'NodeName'
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodePorts'
  | 'NodeResourcesFit'
  | 'VolumeRestrictions'
  | 'NodeVolumeLimits'
  | 'VolumeBinding'
  | 'VolumeZone'
  | 'PodTopologySpread'
  | 'InterPodAffinity'
  | 'DynamicResources'
  | 'PlacingLimits';

/** Why a pod can't be placed. */
export interface FilterRefusal {
  readonly filter: FilterName;
  readonly reasons: readonly string[];
  /** Whether removing other pods from the node can't help. */
  readonly isFinal: boolean;
  /** Whether one node showed that the pod can be on no node at all, for a reason that lies in what it asks for. */
  readonly isOfPod?: boolean;
}

/** A filter prepared for one pod. */
export interface NodeFilter {
  /** Why the pod can't be on the node; undefined: it can. */
  check(node: NodeInfo): FilterRefusal | undefined;
  /**
   * Counts a pod as being on a node (`by` 1) or as removed from it (-1). Omitted by filters that read only the node
   * itself, which the caller changes.
   */
  podChanged?(pod: PodInfo, node: NodeInfo, by: 1 | -1): void;
  /** The only nodes that need checking. */
  readonly only?: ReadonlySet<string>;
}

/** A refusal of all nodes, for a reason that lies in the pod itself. */
export interface PodRefusal {
  readonly refusal: FilterRefusal;
}

/** A demand on the nodes that a pod can be placed on. A pure function of the cluster. */
export interface Filter {
  readonly name: FilterName;
  /** Returns undefined when the pod has no demand for this filter to check. */
  prepare(pod: PodInfo, cluster: SchedulingView): NodeFilter | PodRefusal | undefined;
}

/** A refusal with a single reason. */
export function refusal(filter: FilterName, reason: string, isFinal: boolean): FilterRefusal {
  return Object.freeze({ filter, reasons: Object.freeze([reason]), isFinal });
}
