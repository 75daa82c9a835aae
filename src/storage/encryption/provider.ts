/**
 * Encrypts and decrypts the texts of stored objects. An encrypted text is bound to a context, the key of the object:
 * opened with another context, it fails like a text that was tampered with.
 */
export interface Provider {
  /** Names the method and the key that the provider encrypts with now, for example `aesgcm:key1`. */
  readonly label: string;
  /** @throws StorageError `Unavailable` when no key is at hand. */
  seal(plain: Buffer, context: Buffer): Buffer;
  /** @throws an Error when the text was not sealed by this provider in this context. */
  open(sealed: Buffer, context: Buffer): Buffer;
  /** Whether the provider now encrypts with another key than that of the text. */
  isOutdated?(sealed: Buffer): boolean;
  /** Fetches what `open` needs for this text, if it is not at hand. Never rejects: `open` reports what is missing. */
  prepare?(sealed: Buffer): Promise<void> | undefined;
}
