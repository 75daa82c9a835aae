import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import type { Cgroups } from '../containers/cgroups.js';
import type { ContainerStarter } from '../containers/container-starter.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { EventSink, EventType } from '../events.js';
import type { ImagePuller } from '../images/image-puller.js';
import type { NodeSettings } from '../node-settings.js';
import type { PodFolders } from '../pod-folders.js';
import type { ProberDependencies } from '../probes/prober.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import type { BackOff } from './back-off.js';
import type { Room } from './pod-allocation.js';
import type { PodEnd } from './pod-end.js';
import type { RuntimeView } from './runtime-view.js';

/** What the workers of all pods share. */
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
  /** Gives a pod the devices that it asks for. Returns why that is not possible. */
  readonly prepareDevices: (pod: Pod) => Promise<PodEnd | undefined>;
  /** Has the drivers of a pod's volumes take them away. */
  readonly releaseVolumes: (uid: string) => Promise<void>;
  /** Name of the runtime, which begins ids of containers. */
  readonly runtimeName: () => string;
  /** The handler of the runtime for a class of runtimes. @throws Error for an unknown class, or one that can't run the pod */
  readonly handlerOf: (pod: Pod) => Promise<string>;
  /** Whether the node has room for a pod that it runs already, as the pod wants to be now. */
  readonly room: (pod: Pod) => Room;
  /** Called when a pod may have given back some of its resources. */
  readonly onResized: () => void;
  /** Called when the API has lost the mirror of a static pod. */
  readonly onMirrorGone: (uid: string) => void;
  /** Called when nothing is left of a pod that is no longer wanted. */
  readonly onDone: (uid: string) => void;
}

/** The same for the parts of one pod's worker. */
export interface PodDependencies extends WorkerDependencies {
  /** Records an event about the pod. @param container path of the part that it is about */
  readonly event: (type: EventType, reason: string, message: string, container?: string) => void;
  /** Something has happened that the worker should look at. */
  readonly changed: () => void;
}
