import type { Family } from '../rules/family.js';

/** What the rules that no service changes depend on. */
export interface TableSettings {
  readonly family: Family;
  readonly masqueradeMark: number;
  /** Replace the sender of everything that goes to a cluster address. */
  readonly masqueradesAll: boolean;
  /** How packets of pods on this node are known; undefined if nobody said. */
  readonly pods: PodMatch | undefined;
  /** The addresses whose ports are node ports; undefined: all of this node but the loopback ones. */
  readonly nodePortAddresses: readonly string[] | undefined;
  /** Ranges of cluster addresses: packets to those that no service has are dropped. */
  readonly serviceCidrs: readonly string[];
}

/** Two conditions of nftables: one for packets of pods, and one for all others. */
export interface PodMatch {
  readonly isPod: string;
  readonly isNoPod: string;
}
