/** Where a server listens. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/** How to recognize packets of pods on this node. */
export type LocalMode = 'ClusterCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

export interface ProxyOptions {
  readonly nodeName: string;
  readonly mode: 'nftables' | 'userspace';
  /** Whether network policies are enforced, too. */
  readonly networkPolicies: boolean;
  readonly detectLocalMode: LocalMode;
  /** At most one range of each family. */
  readonly clusterCidrs: readonly string[];
  readonly podBridgeInterface: string;
  readonly podInterfaceNamePrefix: string;
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  /** Ranges, or `primary` alone for the addresses of the node; empty: all addresses of this machine. */
  readonly nodePortAddresses: readonly string[];
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
  /** Undefined: this server is switched off. */
  readonly healthz: ListenAddress | undefined;
  readonly metrics: ListenAddress | undefined;
}
