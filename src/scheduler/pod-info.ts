import type { Toleration } from '../apis/core/v1/affinity.types.js';
import type { Pod } from '../apis/core/v1/pod.types.js';
import type { ApiObject } from '../machinery/api-object.js';
import type { Labels } from '../machinery/label-selector.js';
import { type AffinityTerm, affinityTerm, type LabelledPod } from './affinity-terms.js';
import { type Amounts, podRequests, scoredRequests } from './amounts.js';
import { type NodeTest, namedNodes, nodeTermTest, requiredNodes } from './node-selection.js';

/** A port of the node that a pod takes. */
export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A claim of a pod's namespace that one of its volumes uses. */
export interface UsedClaim {
  readonly name: string;
  /** Whether the claim is made for this pod alone and goes with it. */
  readonly isOwn: boolean;
}

const none: readonly never[] = [];
const noLabels: Labels = {};

/** A pod with everything that placing it and its neighbours asks for, computed once for each state of the pod. */
export class PodInfo implements LabelledPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly requests: Amounts;
  /** The requests that scores count with. */
  readonly scored: Pick<Amounts, 'milliCpu' | 'memory'>;
  readonly ports: readonly HostPort[];
  /** The claims that the pod's volumes use. */
  readonly claims: readonly UsedClaim[];
  readonly tolerations: readonly Toleration[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
  /** The demanded nodes; undefined: any. */
  readonly requiredNodes: NodeTest | undefined;
  /** The only nodes that can be demanded, when they are demanded by name. */
  readonly namedNodes: ReadonlySet<string> | undefined;
  /** The wanted nodes and how much they are wanted. */
  readonly preferredNodes: readonly { readonly weight: number; readonly test: NodeTest }[];

  /** Whether the pod is about to end. */
  readonly isEnding: boolean;

  constructor(readonly pod: Pod & ApiObject) {
    const { metadata, spec } = pod;
    this.uid = metadata.uid ?? '';
    this.namespace = metadata.namespace ?? '';
    this.name = metadata.name ?? '';
    this.labels = metadata.labels ?? noLabels;
    this.priority = spec.priority ?? 0;
    this.isEnding = metadata.deletionTimestamp !== undefined;
    this.requests = podRequests(spec);
    this.scored = scoredRequests(spec, this.requests);
    this.ports = hostPorts(pod);
    this.claims = usedClaims(pod);
    this.tolerations = spec.tolerations ?? none;
    const { podAffinity, podAntiAffinity, nodeAffinity } = spec.affinity ?? {};
    const terms = (of: NonNullable<typeof podAffinity> | undefined | null) =>
      (of?.requiredDuringSchedulingIgnoredDuringExecution ?? none).map((term) => affinityTerm(term, this));
    const weighted = (of: NonNullable<typeof podAffinity> | undefined | null) =>
      (of?.preferredDuringSchedulingIgnoredDuringExecution ?? none).map(({ weight, podAffinityTerm }) =>
        affinityTerm(podAffinityTerm, this, weight),
      );
    this.requiredAffinity = terms(podAffinity);
    this.requiredAntiAffinity = terms(podAntiAffinity);
    this.preferredAffinity = weighted(podAffinity);
    this.preferredAntiAffinity = weighted(podAntiAffinity);
    this.requiredNodes = requiredNodes(spec);
    this.namedNodes = namedNodes(spec);
    this.preferredNodes = (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? none).map(
      ({ weight, preference }) => ({ weight, test: nodeTermTest(preference) }),
    );
  }
}

function hostPorts({ spec }: Pod): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  // Init containers that keep running hold their ports like the others.
  const containers = [
    ...(spec.containers ?? none),
    ...(spec.initContainers ?? none).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ];
  for (const container of containers) {
    for (const { hostPort = 0, hostIP, protocol } of container.ports ?? none) {
      if (hostPort <= 0) continue;
      ports ??= [];
      ports.push({ ip: hostIP || '0.0.0.0', protocol: protocol || 'TCP', port: hostPort });
    }
  }
  return ports ?? none;
}

function usedClaims({ metadata, spec }: Pod): readonly UsedClaim[] {
  let claims: UsedClaim[] | undefined;
  for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? none) {
    const isOwn = ephemeral !== undefined && ephemeral !== null;
    const claim = persistentVolumeClaim?.claimName ?? (isOwn ? `${metadata.name}-${name}` : undefined);
    if (claim === undefined) continue;
    claims ??= [];
    claims.push({ name: claim, isOwn });
  }
  return claims ?? none;
}
