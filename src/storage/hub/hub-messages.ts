import type { Epoch } from '../postgres/epoch-keeper.js';
import type { StatementValue } from '../postgres/session.js';
import type { LostVersions } from '../storage.interface.js';
import type { SentBatch } from './sent-batch.js';
import type { SentError } from './sent-error.js';
import type { SentWrite } from './sent-write.js';

/** A call from a process to the hub. The first number is the id of the call, which the response repeats. */
export type HubRequest =
  /** Checks the database, unless another process has already requested that. */
  | readonly ['start', number]
  /** Runs a read statement by its name, in the database or in its read replica. */
  | readonly ['read' | 'read-replica', number, string, readonly StatementValue[], number]
  /** Writes whose texts are in the form that the database stores. */
  | readonly ['write', number, SentWrite]
  | readonly ['write-together', number, readonly SentWrite[]]
  | readonly ['check-writes', number]
  /** Checks the history. The version is the newest that the process has seen. */
  | readonly ['check-epoch', number, bigint]
  /** Reports a version that the process has read on a connection of its own. */
  | readonly ['observe', number, bigint]
  /** Whether the process follows the changes of a resource; has no response. */
  | readonly ['follow', 0, string, boolean];

/** The hub's knowledge of the history of the database. */
export interface SentEpoch {
  readonly epoch: Epoch;
  readonly lost: LostVersions | undefined;
  /** The newest version that the process has seen. */
  readonly seen: bigint;
}

/** A message from the hub to a process. */
export type HubMessage =
  | readonly ['answer', number, unknown]
  /** A write succeeded; the second number is its version. */
  | readonly ['written', number, bigint]
  | readonly ['failure', number, SentError]
  /** A batch was committed; its texts are in the form that the database stores. */
  | readonly ['batch', SentBatch]
  | readonly ['hint', bigint | undefined, 'notify' | 'poll']
  | readonly ['epoch', SentEpoch];
