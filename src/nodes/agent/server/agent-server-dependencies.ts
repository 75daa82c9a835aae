import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { VolumeUse } from '../csi/volume-stats.js';
import type { Machine } from '../node/machine.js';
import type { PodManager } from '../pod-manager.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import type { ProbeCounts } from '../probes/probe-counts.js';
import type { AgentAuthentication } from './authentication.js';
import type { AgentAuthorization } from './authorization.js';

export interface ServerCertificates {
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities of client certificates in PEM; undefined: none are known. */
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
  readonly machine: Machine;
  readonly probeCounts: ProbeCounts;
  /** What is used of the volumes of a pod whose drivers know that. */
  readonly volumeUse: (uid: string) => Promise<readonly VolumeUse[]>;
  /** The configuration in force, as `/configz` shows it. */
  readonly configuration: object;
  /** Streams without a byte for this long end. */
  readonly streamIdleMs: number;
  /** Whether there are commands, streams and logs, or only numbers. */
  readonly debugging: boolean;
  readonly timers: Timers;
  readonly logger: Logger;
}
