import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import type { EventSink, EventType } from '../agent-events.js';
import type { Cgroups } from '../containers/cgroups.js';
import type { ContainerStarter } from '../containers/container-starter.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { ImagePuller } from '../images/image-puller.js';
import type { NodeSettings } from '../node-settings.js';
import type { PodFolders } from '../pod-folders.js';
import type { ProberDependencies } from '../probes/run-probes.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import type { BackOff } from './back-off.js';
import type { CapacityVerdict } from './pod-allocation.js';
import type { PodEnd } from './pod-end.js';
import type { RuntimeView } from './runtime-view.js';

/** The dependencies that the workers of all pods share. */
export interface WorkerDependencies {
  readonly api: ApiUser;
  readonly runtime: ContainerRuntime;
  readonly view: RuntimeView;
  readonly starter: ContainerStarter;
  readonly images: ImagePuller;
  readonly backOff: BackOff;
  readonly folders: PodFolders;
  readonly settings: NodeSettings;
  readonly cgroups: Cgroups;
  readonly prober: ProberDependencies;
  readonly events: EventSink;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  readonly prepareVolumes: (pod: Pod, podIPs: readonly string[]) => Promise<ReadonlyMap<string, ReadyVolume>>;
  /** Allocates the devices that a pod requests. Returns the reason if that is not possible. */
  readonly prepareDevices: (pod: Pod) => Promise<PodEnd | undefined>;
  /** Unpublishes the CSI volumes of a pod. */
  readonly releaseVolumes: (uid: string) => Promise<void>;
  /** Name of the runtime, with which container ids begin. */
  readonly runtimeName: () => string;
  /** The runtime handler of a RuntimeClass. @throws Error for an unknown class, or one that can't run the pod */
  readonly handlerOf: (pod: Pod) => Promise<string>;
  /** Whether the node has the resources for a running pod with its resized declaration. */
  readonly checkAllocation: (pod: Pod) => CapacityVerdict;
  /** Called when a pod may have freed resources. */
  readonly onResized: () => void;
  /** Called when the API no longer has the mirror of a static pod. */
  readonly onMirrorGone: (uid: string) => void;
  /** Called when the last trace of an unwanted pod was removed. */
  readonly onDone: (uid: string) => void;
}

/** The same dependencies for the components of one pod's worker. */
export interface PodDependencies extends WorkerDependencies {
  /** Records an event about the pod. @param container field path of the container that the event is about */
  readonly event: (type: EventType, reason: string, message: string, container?: string) => void;
  /** The worker should look at the pod again. */
  readonly changed: () => void;
}
