import type { Attacker } from './attacker.js';

/** One way to do harm with the rights of a tenant, or through a careless administrator. */
export interface Attack {
  readonly name: string;
  /** A description of the attack in one line. */
  readonly about: string;
  /** Number of concurrent clients; default 32. */
  readonly parallel?: number;
  /** After this many requests the attack only waits, which bounds its load. Default: it continues until the end. */
  readonly most?: number;
  /** Prepares the objects that the attack needs. */
  readonly prepare?: (attacker: Attacker) => Promise<void>;
  /** Sends the n-th request. */
  readonly act: (attacker: Attacker, n: number) => Promise<unknown>;
  /** Removes everything that outlives the attacker's namespace. */
  readonly undo?: (attacker: Attacker) => Promise<void>;
}
