import type { Taint } from '../../objects/apis/core/v1/affinity.types.js';
import type { Threshold } from './housekeeping/eviction.js';
import type { PodNetworkOptions } from './network/network-configuration.js';
import type { AuthenticationSettings } from './server/agent-authentication.js';
import type { AuthorizationSettings } from './server/agent-authorization.js';
import type { ServerCertificates } from './server/agent-server-dependencies.js';
import type { StaticPodOptions } from './sources/static-pods.js';

export interface AgentOptions {
  readonly nodeName: string;
  readonly hostname: string;
  readonly nodeIPs: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly registersNode: boolean;
  readonly unschedulable: boolean;
  readonly rootFolder: string;
  readonly logFolder: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly resolvConf: string;
  /** Parent cgroup of all pod cgroups: `/`, or one that the administrator made. */
  readonly cgroupRoot: string;
  readonly cfsQuota: boolean;
  readonly cfsQuotaPeriodMs: number;
  readonly cpuManager: CpuManagerOptions;
  /** Amounts of resources that are kept for the machine itself, by name. */
  readonly reserved: Readonly<Record<string, string>>;
  readonly maxPods: number;
  readonly podCidr: string;
  readonly network: PodNetworkOptions;
  readonly leaseMs: number;
  readonly statusLookMs: number;
  readonly statusReportMs: number;
  readonly eventQps: number;
  readonly eventBurst: number;
  readonly serializesPulls: boolean;
  readonly port: number;
  /** The release that nodes report. */
  readonly version: string;
  /** The eviction thresholds of the machine; what hard thresholds keep free is not available to pods. */
  readonly thresholds: readonly Threshold[];
  readonly sources: StaticPodOptions;
  /** Undefined: the agent has no server. */
  readonly server: AgentServerSettings | undefined;
  /** Where the agent serves its health; undefined: nowhere. */
  readonly healthz: { readonly address: string; readonly port: number } | undefined;
  readonly housekeeping: HousekeepingOptions;
}

export interface AgentServerSettings {
  readonly address: string;
  readonly certificates: ServerCertificates;
  readonly authentication: AuthenticationSettings;
  readonly authorization: AuthorizationSettings;
  readonly debugging: boolean;
  readonly streamIdleMs: number;
  /** The configuration in force, as `/configz` shows it. */
  readonly configuration: object;
}

export interface CpuManagerOptions {
  readonly policy: 'none' | 'static';
  readonly reconcileMs: number;
  /** Processors of the machine itself: `0-1`; empty: as many as of their time is reserved. */
  readonly reservedCpus: string;
}

export interface HousekeepingOptions {
  readonly imageHighPercent: number;
  readonly imageLowPercent: number;
  readonly imageYoungestMs: number;
  readonly logMaxBytes: number;
  readonly logMaxFiles: number;
  readonly thresholds: readonly Threshold[];
  /** The most seconds that a pod gets to end when a soft threshold is passed. */
  readonly mostGraceSeconds: number;
  readonly transitionMs: number;
}
