/**
 * An object that a token needs is missing or differs from the token's claim. The message is meant for token reviews.
 */
export class TokenObjectError extends Error {}
