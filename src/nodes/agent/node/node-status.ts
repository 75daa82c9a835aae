import { formatTime } from '../../../base/machinery/clock.js';
import type { Image } from '../cri/image-messages.js';
import type { MachineInfo } from './machine.js';

/** The pressure conditions of a node. */
export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** What a node reports beside the properties of the machine. */
export interface ReportedNodeState {
  readonly machine: MachineInfo;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly nodeName: string;
  readonly hostname: string;
  /** Port of the agent's server; 0: it has none. */
  readonly port: number;
  readonly runtimeVersion: string;
  readonly agentVersion: string;
  readonly handlers: readonly { name: string; features?: Record<string, boolean> | undefined }[];
  readonly images: readonly Image[];
  readonly pressures: ReadonlySet<Pressure>;
  /** Why the node accepts no pods; empty if it does. */
  readonly problems: readonly string[];
}

/** Features that not all nodes have. */
const declaredFeatures = [
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
];

/** The most images in the status; the largest ones are listed. */
const mostImages = 50;
const mostNames = 5;

const healthy: Readonly<Record<Pressure, readonly [string, string, string, string]>> = {
  MemoryPressure: [
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
    'KubeletHasInsufficientMemory',
    'kubelet has insufficient memory available',
  ],
  DiskPressure: [
    'KubeletHasNoDiskPressure',
    'kubelet has no disk pressure',
    'KubeletHasDiskPressure',
    'kubelet has disk pressure',
  ],
  PIDPressure: [
    'KubeletHasSufficientPID',
    'kubelet has sufficient PID available',
    'KubeletHasInsufficientPID',
    'kubelet has insufficient PID available',
  ],
};

export interface NodeStatusCondition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** The status of a node. @param known the conditions reported last; their times stay as long as nothing changes */
export function reportedNodeStatus(
  state: ReportedNodeState,
  known: readonly Partial<NodeStatusCondition>[],
  now: number,
) {
  const time = formatTime(now);
  const condition = (type: string, status: string, reason: string, message: string): NodeStatusCondition => {
    const before = known.find((each) => each.type === type);
    const since = before?.status === status ? (before.lastTransitionTime ?? time) : time;
    return { type, status, lastHeartbeatTime: time, lastTransitionTime: since, reason, message };
  };
  const pressures = (Object.keys(healthy) as Pressure[]).map((type) => {
    const [goodReason, good, badReason, bad] = healthy[type];
    return state.pressures.has(type)
      ? condition(type, 'True', badReason, bad)
      : condition(type, 'False', goodReason, good);
  });
  const { machine, problems } = state;
  const ready =
    problems.length === 0
      ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : condition('Ready', 'False', 'KubeletNotReady', `[${problems.join(', ')}]`.replace(/^\[([^,]*)\]$/, '$1'));
  return {
    capacity: state.capacity,
    allocatable: state.allocatable,
    conditions: [...pressures, ready],
    addresses: [
      ...state.addresses.map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: state.hostname },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: state.port } },
    nodeInfo: {
      machineID: machine.machineID,
      systemUUID: machine.systemUUID,
      bootID: machine.bootID,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: state.runtimeVersion,
      kubeletVersion: state.agentVersion,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: machine.architecture,
      runningInUserNamespace: machine.isInUserNamespace,
    },
    images: imagesOf(state.images),
    runtimeHandlers: state.handlers,
    declaredFeatures,
  };
}

function imagesOf(images: readonly Image[]) {
  return [...images]
    .sort((a, b) => b.size - a.size)
    .slice(0, mostImages)
    .map(({ repoDigests, repoTags, size }) => ({
      names: [...repoDigests, ...repoTags].slice(0, mostNames),
      sizeBytes: size,
    }));
}
