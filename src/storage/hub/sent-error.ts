import pg from 'pg';
import { errorText } from '../../base/machinery/startup-error.js';
import { MigrationError } from '../postgres/migration-error.js';
import { StorageError, type StorageErrorCode } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';

/** An error in the form in which it is sent between processes. */
export interface SentError {
  readonly kind: 'storage' | 'migration' | 'database' | 'other';
  readonly message: string;
  /** The code of a storage error or a system error, or the SQLSTATE of a database error. */
  readonly code?: string | undefined;
  readonly key?: StorageKey | undefined;
  readonly resourceVersion?: bigint | undefined;
  readonly reason?: string | undefined;
  readonly severity?: string | undefined;
  readonly cause?: SentError | undefined;
}

const mostCauses = 3;

export function sendError(error: unknown, causes = mostCauses): SentError {
  if (!(error instanceof Error)) return { kind: 'other', message: String(error) };
  const message = errorText(error);
  const cause = error.cause === undefined || causes === 0 ? undefined : sendError(error.cause, causes - 1);
  if (error instanceof StorageError) {
    const { code, key, resourceVersion, reason } = error;
    return { kind: 'storage', message, code, key, resourceVersion, reason, cause };
  }
  if (error instanceof pg.DatabaseError) {
    return { kind: 'database', message, code: error.code, severity: error.severity, cause };
  }
  if (error instanceof MigrationError) return { kind: 'migration', message, cause };
  const { code } = error as { code?: unknown };
  return { kind: 'other', message, code: typeof code === 'string' ? code : undefined, cause };
}

/** Recreates the error, of the same class where callers distinguish classes. */
export function receiveError(sent: SentError): Error {
  const { kind, message, code, key, resourceVersion, reason } = sent;
  const cause = sent.cause === undefined ? undefined : receiveError(sent.cause);
  switch (kind) {
    case 'storage':
      return new StorageError(code as StorageErrorCode, message, {
        ...(key === undefined ? {} : { key }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        reason,
        cause,
      });
    case 'migration':
      return new MigrationError(message, { cause });
    case 'database': {
      const error = new pg.DatabaseError(message, message.length, 'error');
      error.code = code;
      error.severity = sent.severity;
      return error;
    }
    case 'other':
      return Object.assign(new Error(message, { cause }), code === undefined ? {} : { code });
  }
}
