import type { Attacker } from './attacker.js';

/** One way to do harm with the rights of a tenant, or of a careless administrator. */
export interface Attack {
  readonly name: string;
  /** What it does, in a line. */
  readonly about: string;
  /** Clients at one time; default 32. */
  readonly parallel?: number;
  /** After so many times it only waits: the load is bounded. Default: until the end. */
  readonly most?: number;
  /** What has to be there before it begins. */
  readonly prepare?: (attacker: Attacker) => Promise<void>;
  /** The n-th time. */
  readonly act: (attacker: Attacker, n: number) => Promise<unknown>;
  /** Takes back what outlives the namespace of the attacker. */
  readonly undo?: (attacker: Attacker) => Promise<void>;
}
