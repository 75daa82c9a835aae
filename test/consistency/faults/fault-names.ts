/**
 * Errors that can be built into a running server on purpose, to prove that the consistency check finds them:
 *
 * - `drop-notification`: notifications get lost, and nobody polls
 * - `reorder-events`: two events are swapped
 * - `double-event`: an event comes twice
 * - `lost-event`: an event does not come
 * - `lost-resume`: the first change after the version that a watch resumes from does not come
 * - `early-bookmark`: the position of a watch runs ahead of its events
 * - `stale-list`: a list shows the state before the newest one
 * - `torn-pages`: later pages of a list show the newest state
 * - `stale-read`: a read returns an earlier state of the object
 * - `lost-write`: a write is acknowledged and not made
 * - `own-batch-gap`: the process's own writes are delivered as if nobody else had written in between
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

/**
 * Errors in the messages between a worker and the hub in its parent:
 *
 * - `lost-batch`: a worker does not receive a batch of the machine, and nobody polls
 * - `thin-batch`: a batch comes without one of its changes
 * - `double-batch`: the changes of a batch come twice
 * - `forgotten-follow`: the hub forgets that a worker follows a resource, and the worker does not notice the omission
 * - `lost-hint`: what other machines write is not passed on to the workers, and nobody polls
 * - `swapped-writes`: two writes of a worker get each other's answer
 * - `swapped-reads`: a read gets the answer of another read under way
 * - `stale-head`: the newest version is the one of an earlier read
 */
export const workerFaultNames = [
  'lost-batch',
  'thin-batch',
  'double-batch',
  'forgotten-follow',
  'lost-hint',
  'swapped-writes',
  'swapped-reads',
  'stale-head',
] as const;
export type FaultName = (typeof faultNames)[number] | (typeof workerFaultNames)[number];

/** Environment variable that names the fault for `arm-fault` to build in. */
export const faultVariable = 'PLINTH_TEST_FAULT';
