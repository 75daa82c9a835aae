import pg from 'pg';
import { sqlState } from '../../base/database/sql-state.js';
import { errorText } from '../../base/machinery/startup-error.js';
import { StorageError } from '../storage-error.js';

/**
 * The kind of a failure, by its meaning for the caller of the statement.
 *
 * - `lost`: the connection is lost; a write in progress may or may not have been committed.
 * - `retry`: rolled back, and likely to work when retried on the same connection.
 * - `reconnect`: rolled back, and likely to work on another connection (a standby that took over the address, a
 * prepared statement that a pooler forgot, a plan for an altered table).
 * - `data`: rolled back because of one of its values; will never work.
 * - `partition`: rolled back because the log has no partition for the new version.
 * - `epoch`: rolled back because the database is in another epoch; works after a check.
 * - `hints`: rolled back because the server's queue of notifications is full; works without a notification.
 * - `forgotten`: the log no longer shows whether a batch was made.
 * - `fatal`: rolled back for a reason that a retry won't cure (schema, permissions).
 */
export type FailureKind =
  | 'lost'
  | 'retry'
  | 'reconnect'
  | 'data'
  | 'partition'
  | 'epoch'
  | 'hints'
  | 'forgotten'
  | 'fatal';

/** The address leads to a server that was demoted or has not been promoted yet. */
export const standbyReason = 'the database is a standby and takes no writes';

/** The reason of a failure that lasts until an operator acts, in words for clients; undefined for other failures. */
export function reasonForClients(error: unknown): string | undefined {
  if (error instanceof StorageError) return error.reason;
  return sqlState(error) === '25006' ? standbyReason : undefined;
}

/** Wraps the error of a statement; a StorageError passes unchanged. */
export function unavailable(error: unknown, what: string): StorageError {
  if (error instanceof StorageError) return error;
  return new StorageError('Unavailable', `${what}: ${errorText(error)}`, {
    cause: error,
    reason: reasonForClients(error),
  });
}

const RETRY = new Set(['40001', '40P01', '55P03', '57014', '23505', 'PL001', '55000', '55006']);
const RECONNECT = new Set(['25006', '26000', '0A000', '57P03', '25P02', '42P05']);

/** Classifies an error thrown by a `Session`. */
export function failureKind(error: unknown): FailureKind {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return 'lost';
  const code = error.code;
  // The connection was refused: a wrong password or role, or no such database.
  if (code.startsWith('28') || code === '3D000') return 'fatal';
  // FATAL ends the session: the statement may have been committed just before.
  if (error.severity === 'FATAL' || error.severity === 'PANIC') return 'lost';
  if (code.startsWith('08') || code.startsWith('57P')) return 'lost';
  if (code === '23514' && error.table === 'changes') return 'partition';
  if (code === 'PL003') return 'epoch';
  if (code === 'PL004') return 'forgotten';
  if (code === '54000' && error.routine === 'PreCommit_Notify') return 'hints';
  if (RETRY.has(code) || code.startsWith('53') || code.startsWith('58')) return 'retry';
  if (RECONNECT.has(code)) return 'reconnect';
  if (code.startsWith('22') || code.startsWith('54')) return 'data';
  return 'fatal';
}
