import { environment } from '../config/environment.js';

/**
 * Errors that can be built into a running process on purpose, to prove that the consistency check finds them:
 *
 * - `drop-notification`: notifications get lost, and nobody polls
 * - `reorder-events`: two events change places
 * - `double-event`: an event comes twice
 * - `lost-event`: an event does not come
 * - `lost-resume`: the first thing behind the version that a watch goes on from does not come
 * - `early-bookmark`: the position of a watch runs ahead of its events
 * - `stale-list`: a list shows the state before the newest one
 * - `torn-pages`: later pages of a list show the newest state
 * - `stale-read`: an object is answered as it was when it was read before
 * - `lost-write`: a write is acknowledged and not made
 * - `own-batch-gap`: what the process wrote is delivered as if nobody else had written in between
 */
export const faultNames = [
  'drop-notification',
  'reorder-events',
  'double-event',
  'lost-event',
  'lost-resume',
  'early-bookmark',
  'stale-list',
  'torn-pages',
  'stale-read',
  'lost-write',
  'own-batch-gap',
] as const;
export type FaultName = (typeof faultNames)[number];

/**
 * The fault of this process; undefined in every process that is not part of a test. `PLINTH_TEST_FAULT` alone makes the
 * process refuse to start, so that a variable that was forgotten can't make a server lie; only together with
 * `PLINTH_TEST_BUILD=1` it is taken, with a warning.
 */
export const armedFault: FaultName | undefined = arm(environment);

/** Reads the fault from the environment; throws when it must not or can't be armed. */
export function arm(variables: Readonly<Record<string, string | undefined>>): FaultName | undefined {
  const name = variables.PLINTH_TEST_FAULT;
  if (name === undefined || name === '') return undefined;
  if (variables.PLINTH_TEST_BUILD !== '1') {
    throw new Error('PLINTH_TEST_FAULT makes a server answer wrongly; it is for tests only (PLINTH_TEST_BUILD=1)');
  }
  const known = faultNames.find((fault) => fault === name);
  if (known === undefined) throw new Error(`PLINTH_TEST_FAULT is none of ${faultNames.join(', ')}`);
  process.emitWarning(`this server answers wrongly on purpose: ${known}`);
  return known;
}

let turns = 0;

/** Whether the fault is armed and it is its turn: one call in `every`. Costs one comparison when it is not. */
export function strikes(fault: FaultName, every: number): boolean {
  if (armedFault !== fault) return false;
  turns += 1;
  return turns % every === 0;
}
