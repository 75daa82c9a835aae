/** An unusable key file. The message names the file and contains no part of a key. */
export class KeyFileError extends Error {}
