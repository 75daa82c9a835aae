import type { GroupResource } from '../../../base/machinery/group-version.js';
import {
  alreadyExistsError,
  badRequestError,
  conflictError,
  expiredError,
  forbiddenError,
  internalError,
  modifiedMessage,
  notFoundError,
  StatusError,
  serviceUnavailableError,
  timeoutError,
  tooLargeResourceVersionError,
} from '../../../base/machinery/status-error.js';
import { StorageError } from '../../../storage/storage-error.js';

const namespaces: GroupResource = { group: '', resource: 'namespaces' };

/** The error for a write that would create an object in a terminating namespace. */
export function terminatingNamespaceError(gr: GroupResource, name: string, namespace: string): StatusError {
  const detail = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  return forbiddenError(gr, name, detail, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

/** The message of a 410 for a version that has left the history. Clients list again when they see it. */
function expiredMessage(what: 'list' | 'watch'): string {
  return `The resourceVersion for the provided ${what} is too old.`;
}

/** The error for a new object of a kind whose definition is being deleted. */
export function endedDefinitionError(): StatusError {
  const message = 'create not allowed while custom resource definition is terminating';
  return new StatusError('MethodNotAllowed', message, { details: {} });
}

function unavailableMessage(reason: string | undefined): string {
  const message = 'the storage of the server is not available right now';
  return reason === undefined ? message : `${message}: ${reason}`;
}

/** The error for a write that waited too long behind others. Nothing was written, so clients can repeat it. */
function overloadedError(cause: StorageError): StatusError {
  const message = 'the storage of the server is busy with other writes, please try again later';
  return new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 }, isSelfDefence: true, cause });
}

/**
 * Whether a failed write may have been made anyway, or may still be made. Then everything that the write relies on has
 * to stay.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  const origin = error instanceof StatusError ? error.cause : error;
  return origin instanceof StorageError && origin.code === 'UnknownOutcome';
}

/**
 * Converts errors of storage to errors of the API; other errors pass unchanged.
 *
 * @param what the kind of request that named the version
 */
export function toStatusError(
  error: unknown,
  gr: GroupResource,
  name: string,
  asked?: bigint,
  what: 'list' | 'watch' = 'list',
): unknown {
  if (!(error instanceof StorageError)) return error;
  switch (error.code) {
    case 'KeyExists':
      return alreadyExistsError(gr, name);
    case 'NoNamespace':
      return notFoundError(namespaces, error.key?.namespace ?? '');
    case 'NoDefinition':
      return endedDefinitionError();
    case 'KeyNotFound':
      return notFoundError(gr, name);
    case 'Conflict':
    case 'PreconditionFailed':
      return conflictError(gr, name, modifiedMessage);
    case 'Expired':
      return expiredError(expiredMessage(what));
    case 'TooLargeVersion':
      return tooLargeResourceVersionError(asked ?? 0n, error.resourceVersion ?? 0n);
    case 'Unavailable':
    case 'Closed':
      return serviceUnavailableError(unavailableMessage(error.reason), 1, error);
    case 'Overloaded':
      return overloadedError(error);
    case 'UnknownOutcome':
      return timeoutError('the write was sent to storage but its outcome is not known', 1, error);
    case 'Unreadable':
      return internalError(error);
    case 'Invalid':
      return badRequestError(`the object can't be stored: ${error.message}`, error);
    case 'SlowConsumer':
      return new StatusError('TooManyRequests', 'the watch could not keep up with the changes', { cause: error });
  }
}
