import type { Family } from '../rules/family.js';

/** The settings of the rules, which are the same for all services. */
export interface TableSettings {
  readonly family: Family;
  readonly masqueradeMark: number;
  /** Whether to replace the sender of all packets to cluster addresses. */
  readonly masqueradesAll: boolean;
  /** How to recognize packets of pods on this node; undefined if that is not configured. */
  readonly pods: PodMatch | undefined;
  /** The addresses of node ports; undefined: all addresses of this node except loopback addresses. */
  readonly nodePortAddresses: readonly string[] | undefined;
  /** Ranges of cluster addresses: packets to addresses in them that no service has are dropped. */
  readonly serviceCidrs: readonly string[];
}

/** Two conditions of nftables: one matches packets of pods, the other one all other packets. */
export interface PodMatch {
  readonly isPod: string;
  readonly isNoPod: string;
}
