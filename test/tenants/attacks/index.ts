import type { Attack } from '../attack.js';
import { administrators } from './administrators.js';
import { connections } from './connections.js';
import { lists } from './lists.js';
import { networks } from './networks.js';
import { owners } from './owners.js';
import { rights } from './rights.js';
import { scheduling } from './scheduling.js';
import { sizes } from './sizes.js';
import { watches } from './watches.js';
import { workloads } from './workloads.js';
import { writes } from './writes.js';

/**
 * No attack: it only computes, like what runs beside quiet times. If it fails, then the limits are missed by chance, or by
 * other work on the machine.
 */
export const control: Attack = {
  name: 'nothing',
  about: 'no attack: only computes, and must pass',
  most: 0,
  act: (attacker) => attacker.rest(),
};

/** All attacks, in the order in which they run. */
export const allAttacks: readonly Attack[] = [
  control,
  ...lists,
  ...watches,
  ...writes,
  ...sizes,
  ...rights,
  ...connections,
  ...administrators,
  ...networks,
  ...owners,
  ...scheduling,
  ...workloads,
];
