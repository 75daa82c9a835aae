/** A claim is missing or has an unacceptable value. */
export class ClaimError extends Error {}
