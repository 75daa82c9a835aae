/** A user whose identity can't be written into a header without changing it. */
export class UnspeakableUserError extends Error {}
