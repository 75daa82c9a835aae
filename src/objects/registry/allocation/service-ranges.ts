/** The ranges of the addresses and node ports of Services. */
export interface ServiceRanges {
  /** CIDR of the addresses of Services, or one of each IP family with a comma between. */
  readonly serviceClusterIpRange: string;
  /** The range of node ports: `from-to`, both included. */
  readonly serviceNodePortRange: string;
}

/** Injection token of the {@link ServiceRanges}. */
export const SERVICE_RANGES = Symbol('ServiceRanges');
