/**
 * Encrypts and decrypts the texts of stored objects. What it seals is bound to a context, the place of the object:
 * opened under another one, it fails like a text that was tampered with.
 */
export interface Provider {
  /** Names the way and the key of everything that it seals now, for example `aesgcm:key1`. */
  readonly label: string;
  /** @throws StorageError `Unavailable` when no key is at hand. */
  seal(plain: Buffer, context: Buffer): Buffer;
  /** @throws an Error when the text was not sealed by this provider in this context. */
  open(sealed: Buffer, context: Buffer): Buffer;
  /** Whether it would seal under another key today. */
  isOutdated?(sealed: Buffer): boolean;
  /** Fetches what `open` needs for this text, if it is not at hand. Never rejects: `open` tells what is missing. */
  prepare?(sealed: Buffer): Promise<void> | undefined;
}
