import { readableStoredText } from '../../base/machinery/json/stored-text.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';

/**
 * How the database stores the text of an object. Plain text is stored unchanged, as a JSON object; encrypted text is a
 * JSON string, `"enc:<method>:<key>:<base64>"`.
 */
export interface Sealing {
  /** @throws StorageError `Unavailable` when the text has to be encrypted and no key is at hand. */
  seal(key: StorageKey, json: string): string;
  /**
   * Returns the text of an object, in the form that this release would write: see {@link readableStoredText}.
   *
   * @throws StorageError `Unreadable` when the text can't be decrypted, or must not be stored in the form that it has.
   */
  open(key: StorageKey, stored: string): string;
  /** Whether a write would now store the text differently, with another key or provider. */
  isOutdated(key: StorageKey, stored: string): boolean;
  /** Fetches the keys that `open` needs for these texts. Undefined when all are at hand. Never rejects. */
  prepare(texts: readonly SealedText[]): Promise<void> | undefined;
}

/** A stored text and the object that it belongs to. */
export interface SealedText {
  readonly key: StorageKey;
  readonly stored: string;
}

const start = '"enc:';

/** Whether a stored text is encrypted. */
export function isSealed(stored: string): boolean {
  return stored.startsWith(start);
}

/** The error for a text that this process can't decrypt. */
export function unreadable(key: StorageKey, reason: string, cause?: unknown): StorageError {
  const place = key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;
  return new StorageError('Unreadable', `${key.resource} ${place} can't be decrypted: ${reason}`, { key, cause });
}

/** The sealing when no encryption is configured. */
export const plainSealing: Sealing = {
  seal: (_key, json) => json,
  open: (key, stored) => {
    if (isSealed(stored)) throw unreadable(key, 'no encryption is configured');
    return readableStoredText(stored);
  },
  isOutdated: () => false,
  prepare: () => undefined,
};
