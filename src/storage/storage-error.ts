import type { StorageKey } from './storage-key.js';

/**
 * A failure inside storage. The registry turns it into an API error.
 *
 * - `KeyExists`: create found a live object under the key.
 * - `KeyNotFound`: get, update or delete found no object.
 * - `NoNamespace`: the object may only be created in an existing namespace that is not being deleted.
 * - `NoDefinition`: the object may only be created while the definition of its kind exists and its clean-up has not
 * begun, and in a namespace as above if the caller requested that too.
 * - `Conflict`: the object changed between read and write (retryable by reading again).
 * - `PreconditionFailed`: the caller's own uid or resourceVersion precondition does not hold.
 * - `Expired`: the requested version lies below the compact revision.
 * - `TooLargeVersion`: the requested version lies above the newest one; `resourceVersion` carries the newest.
 * - `Invalid`: the key or the text can't be stored (not JSON, a NUL character, too long); nothing was written.
 * - `Unavailable`: the database did not accept the call; nothing was written.
 * - `Overloaded`: the database is busy with other writes, and did not get to this one in time; nothing was written.
 * - `Unreadable`: the stored text can't be decrypted by this process.
 * - `UnknownOutcome`: the connection broke during a write, and whether it was committed could not be found out in time.
 * - `SlowConsumer`: a change subscription fell behind its buffer and was ended.
 * - `Closed`: storage is shutting down.
 */
export type StorageErrorCode =
  | 'KeyExists'
  | 'KeyNotFound'
  | 'NoNamespace'
  | 'NoDefinition'
  | 'Conflict'
  | 'PreconditionFailed'
  | 'Expired'
  | 'TooLargeVersion'
  | 'Invalid'
  | 'Unavailable'
  | 'Overloaded'
  | 'Unreadable'
  | 'UnknownOutcome'
  | 'SlowConsumer'
  | 'Closed';

export interface StorageErrorDetails {
  readonly key?: StorageKey;
  readonly resourceVersion?: bigint;
  readonly cause?: unknown;
  /** The reason, in words that clients may see: without hosts, users or statements. */
  readonly reason?: string | undefined;
}

const expected: ReadonlySet<StorageErrorCode> = new Set(['Unavailable', 'Overloaded', 'UnknownOutcome', 'Closed']);

/** The only error type that leaves `storage`; SQLSTATE and driver errors stay behind `cause`. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  readonly key: StorageKey | undefined;
  readonly resourceVersion: bigint | undefined;
  readonly reason: string | undefined;

  constructor(code: StorageErrorCode, message: string, details: StorageErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'StorageError';
    this.code = code;
    this.key = details.key;
    this.resourceVersion = details.resourceVersion;
    this.reason = details.reason;
  }

  /** An outage needs no stack in the log: the place where it was noticed adds nothing. */
  get isExpected(): boolean {
    return expected.has(this.code);
  }
}
