import { StatusError } from '../../base/machinery/status-error.js';
import { StorageError, type StorageErrorCode } from '../../storage/storage-error.js';
import type { PackedError } from './large-request-messages.js';
import { ThrownInThread } from './thrown-in-thread.js';

/** Packs an error for sending to the other thread. */
export function packError(error: unknown): PackedError {
  if (error instanceof ThrownInThread) return { kind: 'own' };
  if (error instanceof StorageError) {
    const { code, message, key, resourceVersion, reason } = error;
    const details = {
      ...(key === undefined ? {} : { key }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(reason === undefined ? {} : { reason }),
    };
    return { kind: 'storage', code, message, details };
  }
  if (error instanceof StatusError) {
    const { reason, message, code, details, continueToken } = error;
    return { kind: 'status', reason, message, code, details, continueToken };
  }
  return { kind: 'fault', message: error instanceof Error ? error.message : String(error) };
}

/** Unpacks a received error. */
export function unpackError(error: PackedError): Error {
  switch (error.kind) {
    case 'storage':
      return new StorageError(error.code as StorageErrorCode, error.message, error.details);
    case 'status': {
      const { reason, message, code, details, continueToken } = error;
      return new StatusError(reason, message, {
        code,
        details,
        ...(continueToken === undefined ? {} : { continueToken }),
      });
    }
    case 'fault':
      return new Error(error.message);
    case 'own':
      return new ThrownInThread();
  }
}
