import type { ResourceSettings } from './containers/resources.js';
import type { DnsConfig } from './cri/sandbox-messages.js';

/** Properties of the node that its pods depend on. */
export interface NodeSettings extends ResourceSettings {
  readonly nodeName: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The cgroup of all pods, `/kubepods`; undefined: pods have no cgroups of their own. */
  readonly podsCgroup: string | undefined;
  /** Addresses of the node, the main one first. */
  readonly hostIPs: () => readonly string[];
  readonly resolvConf: () => Promise<DnsConfig>;
  /** The allocatable resources of the node. */
  readonly allocatable: () => Readonly<Record<string, string>>;
}
