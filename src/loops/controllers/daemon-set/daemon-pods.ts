import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { DaemonSet } from '../../../objects/apis/apps/v1/daemon-set.types.js';
import type { Affinity, Taint, Toleration } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { PodSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import { namedNodes, requiredNodes } from '../../scheduler/node-selection.js';
import { keepingAway, untolerated } from '../../scheduler/tolerations.js';
import type { StoredPod } from '../frame/indexes.js';
import type { DeepPartial } from '../frame/loop-client.js';
import { podFromTemplate } from '../frame/pod-from-template.js';

export type StoredDaemonSet = DaemonSet & ApiObject;
export type StoredNode = Node & ApiObject;

/** Label of pods and revisions: the hash of the template that they were made from. */
export const revisionHashLabel = 'controller-revision-hash';
/** Label of pods: the generation of their template, for older clients. */
const generationLabel = 'pod-template-generation';
const templateGeneration = 'deprecated.daemonset.template.generation';

const evicting: ReadonlySet<string> = new Set(['NoExecute']);

/** The taints that all pods of daemon sets tolerate: they belong on nodes in any state. */
function toleratedByAll({ hostNetwork }: PodSpec, { labelPrefix }: Pick<VendorNames, 'labelPrefix'>): Toleration[] {
  const of = (name: string, effect: 'NoExecute' | 'NoSchedule') => ({
    key: `node.${labelPrefix}/${name}`,
    operator: 'Exists' as const,
    effect,
  });
  return [
    of('not-ready', 'NoExecute'),
    of('unreachable', 'NoExecute'),
    of('disk-pressure', 'NoSchedule'),
    of('memory-pressure', 'NoSchedule'),
    of('pid-pressure', 'NoSchedule'),
    of('unschedulable', 'NoSchedule'),
    ...(hostNetwork === true ? [of('network-unavailable', 'NoSchedule')] : []),
  ];
}

/** The tolerations of the template with those that all such pods have. */
function tolerationsOf(spec: PodSpec, names: Pick<VendorNames, 'labelPrefix'>): Toleration[] {
  const added = toleratedByAll(spec, names);
  const isAdded = ({ key, operator, effect, value = '' }: Toleration) =>
    value === '' && added.some((one) => one.key === key && one.operator === operator && one.effect === effect);
  return [...(spec.tolerations ?? []).filter((toleration) => !isAdded(toleration)), ...added];
}

/**
 * A new pod for a node. Its required node affinity names only the node, which already meets the pod's other
 * requirements.
 */
export function newDaemonPod(
  names: Pick<VendorNames, 'labelPrefix'>,
  set: StoredDaemonSet,
  hash: string,
  node: string,
): DeepPartial<StoredPod> {
  const { template } = set.spec;
  const { metadata, spec } = podFromTemplate(set, template);
  const generation = set.metadata.annotations?.[templateGeneration];
  const labels = {
    ...metadata.labels,
    [revisionHashLabel]: hash,
    ...(generation ? { [generationLabel]: generation } : {}),
  };
  const required = {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
  };
  const { affinity } = spec as { affinity?: Affinity };
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  const placed = {
    ...spec,
    affinity: { ...affinity, nodeAffinity },
    tolerations: tolerationsOf(template.spec as PodSpec, names),
  };
  return { metadata: { ...metadata, labels }, spec: placed } as DeepPartial<StoredPod>;
}

/** The node that a pod runs on or is meant for. */
export function targetNode({ spec }: StoredPod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const [only, ...others] = namedNodes(spec) ?? [];
  return others.length === 0 ? only : undefined;
}

/** Whether a node should get a pod of a set, and whether an existing one may stay. */
export interface NodeFit {
  readonly runs: boolean;
  readonly keeps: boolean;
}

const unfit: NodeFit = { runs: false, keeps: false };

/** Decides for each node whether it suits a set; see {@link NodeFit}. */
export function nodeFits(
  { spec }: StoredDaemonSet,
  names: Pick<VendorNames, 'labelPrefix'>,
): (node: StoredNode) => NodeFit {
  const podSpec = spec.template.spec as PodSpec;
  const wanted = requiredNodes(podSpec);
  const tolerations = tolerationsOf(podSpec, names);
  return ({ metadata: { name = '', labels = {} }, spec: { taints = [] } }) => {
    if (podSpec.nodeName && podSpec.nodeName !== name) return unfit;
    if (wanted !== undefined && !wanted({ name, labels })) return unfit;
    const list: readonly Taint[] = taints;
    return {
      runs: untolerated(list, tolerations, keepingAway) === undefined,
      keeps: untolerated(list, tolerations, evicting) === undefined,
    };
  };
}

/** The hash of the template that a pod was made from. */
export function hashOfPod({ metadata }: StoredPod): string {
  return metadata.labels?.[revisionHashLabel] ?? '';
}
