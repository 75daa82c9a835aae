import { StatusError } from '../../../base/machinery/status-error.js';

/**
 * Whether a write was refused because the namespace is being deleted. Retrying can't help until the namespace is gone.
 */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  return error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}

/** Whether an object of this name exists already. */
export function isAlreadyExists(error: unknown): error is StatusError {
  return error instanceof StatusError && error.reason === 'AlreadyExists';
}

/** Whether the object has changed since it was read, or is another one of the same name. */
export function isConflict(error: unknown): error is StatusError {
  return error instanceof StatusError && error.reason === 'Conflict';
}

/** The message of an error, for conditions and events. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
