/** The claim source that a token names does not provide the claims correctly. */
export class ClaimSourceError extends Error {}
