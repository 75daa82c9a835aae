import { DatabaseUrlError } from '../base/database/database-url-error.js';
import { noTls } from '../base/database/open-stream.js';
import { noPassword, sqlState } from '../base/database/sql-state.js';
import { Backoff } from '../base/machinery/backoff.js';
import { systemTimers } from '../base/machinery/timers.js';
import { StorageError, type StorageErrorCode } from './storage-error.js';

export interface UntilReadyOptions {
  /** When aborted, ends the wait. */
  readonly signal: AbortSignal;
  /** Receives the reason why the step must wait, once for each reason. */
  readonly onWait: (error: unknown) => void;
  /** Decides which errors will pass with time; default: `isNotReadyYet`. */
  readonly passes?: (error: unknown) => boolean;
}

const passing: ReadonlySet<StorageErrorCode> = new Set([
  'Unavailable',
  'Overloaded',
  'UnknownOutcome',
  'TooLargeVersion',
  'Expired',
]);
/**
 * Classes of SQLSTATE that waiting does not fix: wrong password or role, no such database, missing rights or relations.
 */
const lasting = ['28', '3D', '42', '3F'];

/** Certificate errors that waiting does not fix. */
const lastingTls: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function isLasting(cause: Error): boolean {
  if (lasting.some((state) => sqlState(cause)?.startsWith(state) === true)) return true;
  if (cause instanceof DatabaseUrlError) return true;
  return lastingTls.has((cause as { code?: unknown }).code) || cause.message === noTls || cause.message === noPassword;
}

/** Whether waiting does not fix this connection error. */
export function isHopeless(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isLasting(cause)) return true;
  }
  return false;
}

/** Whether a storage error only means that the database is not up yet, is busy, or is behind. */
export function isNotReadyYet(error: unknown): boolean {
  if (isHopeless(error)) return false;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof StorageError) || !passing.has(cause.code)) continue;
    // The error for unusable settings has no cause and no reason, so waiting does not help.
    return cause.code !== 'Unavailable' || cause.cause !== undefined || cause.reason !== undefined;
  }
  return false;
}

/**
 * Repeats a startup step until the database is ready for it. A failed attempt may have done part of the step.
 *
 * @throws the error of the step if it has any other reason, or its last error when `signal` is aborted.
 */
export async function untilReady<T>(
  step: () => Promise<T>,
  { signal, onWait, passes = isNotReadyYet }: UntilReadyOptions,
): Promise<T> {
  const backoff = new Backoff({ firstMs: 200, longestMs: 5_000 }, Math.random);
  let reported: string | undefined;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (signal.aborted || !passes(error)) throw error;
      const reason = String(error);
      if (reason !== reported) onWait(error);
      reported = reason;
      await systemTimers.wait(backoff.next(), signal);
      if (signal.aborted) throw error;
    }
  }
}
