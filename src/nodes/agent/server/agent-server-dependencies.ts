import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { VolumeUse } from '../csi/volume-statistics.js';
import type { MachineInfo } from '../node/machine.js';
import type { PodManager } from '../pod-manager.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import type { ProbeCounts } from '../probes/probe-counts.js';
import type { ShutdownTimes } from '../shutdown/shutdown-record.js';
import type { AgentAuthentication } from './agent-authentication.js';
import type { AgentAuthorization } from './agent-authorization.js';

export interface ServerCertificates {
  readonly certificate: string;
  readonly privateKey: string;
  /** Certificate authorities of clients, in PEM; undefined: there are none. */
  readonly clientAuthority: string | undefined;
}

export interface AgentServerDependencies {
  readonly address: string;
  readonly port: number;
  readonly certificates: ServerCertificates;
  readonly authentication: AgentAuthentication;
  readonly authorization: AgentAuthorization;
  readonly manager: PodManager;
  readonly runtime: ContainerRuntime;
  readonly view: RuntimeView;
  readonly nodeName: string;
  readonly rootFolder: string;
  readonly logFolder: string;
  readonly healthProblem: () => string | undefined;
  readonly machine: MachineInfo;
  readonly probeCounts: ProbeCounts;
  /** The last shutdown of the machine. */
  readonly shutdownTimes: () => ShutdownTimes;
  /** The usage of a pod's volumes whose drivers can report it. */
  readonly volumeUse: (uid: string) => Promise<readonly VolumeUse[]>;
  /** The configuration in force, as `/configz` shows it. */
  readonly configuration: object;
  /** Streams are ended after this time without a byte. */
  readonly streamIdleMs: number;
  /** Whether commands, streams and logs are served, or only metrics. */
  readonly debugging: boolean;
  readonly timers: Timers;
  readonly logger: Logger;
}
