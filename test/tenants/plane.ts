import type { Supervised } from './supervised.js';

/** A control plane under attack: servers, loops and nodes that the check started itself, on this machine. */
export interface Plane {
  readonly name: string;
  /** The servers; each is attacked and measured. */
  readonly urls: readonly string[];
  /** Token of a member of system:masters, for preparations only: such requests pass every queue. */
  readonly adminToken: string;
  /** Whether somebody places pods; without a scheduler pods name their node themselves. */
  readonly hasScheduler: boolean;
  readonly processes: readonly Supervised[];
  /** Ends all processes besides the database, and starts them again with everything that is stored. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}
