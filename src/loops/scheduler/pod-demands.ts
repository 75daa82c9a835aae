import { sizeOfField } from '../../base/machinery/packed/object-packer.js';
import type { PodAffinity } from '../../objects/apis/core/v1/affinity.types.js';
import type { PodSpec } from '../../objects/apis/core/v1/pod-spec.types.js';
import { type AffinityTerm, affinityTerm, type LabelledPod } from './affinity-terms.js';
import { type NodeTest, namedNodes, nodeTermTest, requiredNodes } from './node-selection.js';
import { mostPlacingSize } from './placing-limits.js';

/** A pod's demands on its node and on the pods near it. */
export interface PodDemands {
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
  /** The demanded nodes; undefined: any. */
  readonly requiredNodes: NodeTest | undefined;
  /** The only nodes that can be demanded, when they are demanded by name. */
  readonly namedNodes: ReadonlySet<string> | undefined;
  /** The preferred nodes, with the weight of each preference. */
  readonly preferredNodes: readonly { readonly weight: number; readonly test: NodeTest }[];
}

const none: readonly never[] = [];

export const noDemands: PodDemands = {
  requiredAffinity: none,
  requiredAntiAffinity: none,
  preferredAffinity: none,
  preferredAntiAffinity: none,
  requiredNodes: undefined,
  namedNodes: undefined,
  preferredNodes: none,
};

const fields = ['affinity', 'topologySpreadConstraints', 'nodeSelector'] as const;

/**
 * The approximate size of the JSON of the pod's demands; anything above the limit if they are larger. Reads no packed
 * part.
 */
export function demandsSize(spec: PodSpec): number {
  let size = 0;
  for (const field of fields) if (Object.hasOwn(spec, field)) size += sizeOfField(spec, field, mostPlacingSize);
  return size;
}

/** The demands of a pod with this spec. */
export function podDemands(spec: PodSpec, owner: LabelledPod): PodDemands {
  const { podAffinity, podAntiAffinity, nodeAffinity } = spec.affinity ?? {};
  const terms = (of: PodAffinity | undefined | null) =>
    (of?.requiredDuringSchedulingIgnoredDuringExecution ?? none).map((term) => affinityTerm(term, owner));
  const weighted = (of: PodAffinity | undefined | null) =>
    (of?.preferredDuringSchedulingIgnoredDuringExecution ?? none).map(({ weight, podAffinityTerm }) =>
      affinityTerm(podAffinityTerm, owner, weight),
    );
  return {
    requiredAffinity: terms(podAffinity),
    requiredAntiAffinity: terms(podAntiAffinity),
    preferredAffinity: weighted(podAffinity),
    preferredAntiAffinity: weighted(podAntiAffinity),
    requiredNodes: requiredNodes(spec),
    namedNodes: namedNodes(spec),
    preferredNodes: (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? none).map(
      ({ weight, preference }) => ({ weight, test: nodeTermTest(preference) }),
    ),
  };
}
