import { formatTime } from '../../base/machinery/clock.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Node, NodeCondition } from '../../objects/apis/core/v1/node.types.js';
import { imageIdOf } from './container-run.js';

/** The description of a simulated node. */
export interface NodeProfile {
  readonly name: string;
  /** Counted from 0; nodes are spread over the zones by it. */
  readonly index: number;
  readonly address: string;
  /** Port of the node's own server; undefined: it has none. */
  readonly port: number | undefined;
  readonly region: string;
  readonly zone: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly version: string;
}

const images = ['registry.k8s.io/pause:3.10', 'docker.io/library/nginx:latest', 'docker.io/library/busybox:latest'];

/** Features that pods on simulated nodes can use, but not on all real nodes. */
const declaredFeatures = ['InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers'];

/** The Node that registers with the API, status included. */
export function nodeObject(profile: NodeProfile, names: VendorNames, now: number): Node {
  const { labelPrefix } = names;
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name: profile.name,
      annotations: attachAnnotation(names),
      labels: {
        [`${labelPrefix}/hostname`]: profile.name,
        [`${labelPrefix}/os`]: 'linux',
        [`${labelPrefix}/arch`]: 'amd64',
        [`node.${labelPrefix}/instance-type`]: 'simulated',
        [`topology.${labelPrefix}/region`]: profile.region,
        [`topology.${labelPrefix}/zone`]: profile.zone,
      },
    },
    spec: { providerID: `simulated://${profile.zone}/${profile.name}` },
    status: simulatedNodeStatus(profile, now, new Map()),
  } as unknown as Node;
}

/** The annotation that hands the attaching of volumes to the attach-detach controller, as node agents set it. */
export function attachAnnotation({ labelPrefix }: VendorNames): Record<string, string> {
  return { [`volumes.${labelPrefix}/controller-managed-attach-detach`]: 'true' };
}

/** Since when each condition has its status. */
export type NodeConditionTimes = ReadonlyMap<string, string>;

/** The status of a healthy node. */
export function simulatedNodeStatus(profile: NodeProfile, now: number, since: NodeConditionTimes) {
  const time = formatTime(now);
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string) =>
    ({
      type,
      status,
      lastHeartbeatTime: time,
      lastTransitionTime: since.get(type) ?? time,
      reason,
      message,
    }) as NodeCondition;
  return {
    capacity: profile.capacity,
    allocatable: profile.capacity,
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'node has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'node has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'node has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'node is posting ready status'),
    ],
    addresses: [
      { type: 'InternalIP', address: profile.address },
      { type: 'Hostname', address: profile.name },
    ],
    declaredFeatures,
    ...(profile.port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: profile.port } } }),
    nodeInfo: {
      machineID: profile.name,
      systemUUID: profile.name,
      bootID: profile.name,
      kernelVersion: 'simulated',
      osImage: 'Simulated',
      containerRuntimeVersion: 'sim://1.0',
      kubeletVersion: profile.version,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    images: images.map((name) => ({ names: [imageIdOf(name), name], sizeBytes: 50_000_000 })),
  };
}

/** The conditions of a stored status that already have the wanted values keep their times. */
export function conditionTimes(node: Node): NodeConditionTimes {
  const times = new Map<string, string>();
  for (const { type, status, lastTransitionTime } of node.status?.conditions ?? []) {
    const wanted = type === 'Ready' ? 'True' : 'False';
    if (status === wanted && lastTransitionTime) times.set(type, lastTransitionTime);
  }
  return times;
}

/**
 * The changes to the allocatable resources when somebody added resources of other names to the capacity, or removed
 * them: amounts, and null for removed ones; undefined: none.
 */
export function extendedResources(
  { status }: Node,
  { capacity: own }: Pick<NodeProfile, 'capacity'>,
): Record<string, string | null> | undefined {
  const capacity = status?.capacity ?? {};
  const allocatable = status?.allocatable ?? {};
  const changes: Record<string, string | null> = {};
  for (const [name, amount] of Object.entries(capacity)) {
    if (!(name in own) && allocatable[name] !== amount) changes[name] = amount;
  }
  for (const name of Object.keys(allocatable)) if (!(name in own) && !(name in capacity)) changes[name] = null;
  return Object.keys(changes).length === 0 ? undefined : changes;
}
