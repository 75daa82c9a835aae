import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Labels } from '../../base/machinery/label-selector.js';
import type { Toleration } from '../../objects/apis/core/v1/affinity.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { AffinityTerm, LabelledPod } from './affinity-terms.js';
import { podRequests, type SchedulerAmounts, scoredRequests } from './amounts.js';
import type { NodeTest } from './node-selection.js';
import { mostKeptSize } from './placing-limits.js';
import { demandsSize, noDemands, type PodDemands, podDemands } from './pod-demands.js';
import { reservedSpec } from './reserved-spec.js';

/** A port of the node that a pod takes. */
export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A claim of a pod's namespace that one of its volumes uses. */
export interface UsedClaim {
  readonly name: string;
  /** Whether the claim is made for this pod alone and deleted with it. */
  readonly isOwn: boolean;
}

const none: readonly never[] = [];
const noLabels: Labels = {};

/** A pod with everything needed to place it and its neighbours, computed once for each state of the pod. */
export class PodInfo implements LabelledPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly priority: number;
  readonly requests: SchedulerAmounts;
  /** The requests used for scores. */
  readonly scored: Pick<SchedulerAmounts, 'milliCpu' | 'memory'>;
  readonly ports: readonly HostPort[];
  /** The claims that the pod's volumes use. */
  readonly claims: readonly UsedClaim[];
  /** The size of the JSON of the pod's demands on nodes and other pods. */
  readonly demandsSize: number;
  private demands: PodDemands | WeakRef<PodDemands> | undefined;

  /** Whether the pod is about to end. */
  readonly isEnding: boolean;

  constructor(readonly pod: Pod & ApiObject) {
    const { metadata, spec } = pod;
    this.uid = metadata.uid ?? '';
    this.namespace = metadata.namespace ?? '';
    this.name = metadata.name ?? '';
    this.priority = spec.priority ?? 0;
    this.isEnding = metadata.deletionTimestamp !== undefined;
    this.requests = podRequests(reservedSpec(pod));
    this.scored = scoredRequests(spec, this.requests);
    this.ports = hostPorts(pod);
    this.claims = usedClaims(pod);
    this.demandsSize = demandsSize(spec);
    if (this.demandsSize === 0) this.demands = noDemands;
  }

  get labels(): Labels {
    return this.pod.metadata.labels ?? noLabels;
  }

  get tolerations(): readonly Toleration[] {
    return this.pod.spec.tolerations ?? none;
  }

  get requiredAffinity(): readonly AffinityTerm[] {
    return this.said.requiredAffinity;
  }

  get requiredAntiAffinity(): readonly AffinityTerm[] {
    return this.said.requiredAntiAffinity;
  }

  get preferredAffinity(): readonly AffinityTerm[] {
    return this.said.preferredAffinity;
  }

  get preferredAntiAffinity(): readonly AffinityTerm[] {
    return this.said.preferredAntiAffinity;
  }

  get requiredNodes(): NodeTest | undefined {
    return this.said.requiredNodes;
  }

  get namedNodes(): ReadonlySet<string> | undefined {
    return this.said.namedNodes;
  }

  get preferredNodes(): PodDemands['preferredNodes'] {
    return this.said.preferredNodes;
  }

  /** The demands of the pod, computed when needed. Large ones are kept only until the memory is needed. */
  private get said(): PodDemands {
    const { demands } = this;
    const known = demands instanceof WeakRef ? demands.deref() : demands;
    if (known !== undefined) return known;
    const made = podDemands(this.pod.spec, this);
    this.demands = this.demandsSize > mostKeptSize ? new WeakRef(made) : made;
    return made;
  }
}

function hostPorts({ spec }: Pod): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  // Init containers that keep running hold their ports like other containers.
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
