import type { Supervised } from './supervised.js';

/** A control plane under attack: servers, control loops and nodes that the check started on this machine. */
export interface Plane {
  readonly name: string;
  /** The servers; all of them are attacked and measured. */
  readonly urls: readonly string[];
  /** Token of a member of system:masters, for preparations only: its requests skip every queue. */
  readonly adminToken: string;
  /** Whether a scheduler runs; without one, pods name their node themselves. */
  readonly hasScheduler: boolean;
  readonly processes: readonly Supervised[];
  /** Ends all processes except the database, and starts them again with everything that is stored. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}
