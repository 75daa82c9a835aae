/** Where a server listens. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/** How packets of pods on this node are known from others. */
export type LocalMode = 'ClusterCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

export interface ProxyOptions {
  readonly nodeName: string;
  readonly mode: 'nftables' | 'userspace';
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
  /** Undefined: no such server. */
  readonly healthz: ListenAddress | undefined;
  readonly metrics: ListenAddress | undefined;
}
