/** The ranges from which Services get their addresses and ports. */
export interface ServiceRanges {
  /** CIDR of the addresses of Services. */
  readonly serviceClusterIpRange: string;
  /** `from-to`, both included. */
  readonly serviceNodePortRange: string;
}

/** Injection token of the {@link ServiceRanges}. */
export const SERVICE_RANGES = Symbol('ServiceRanges');
