/** A JWT whose signature can't be accepted. The message contains no part of the token. */
export class SignatureError extends Error {}
