/** The API server could not be reached. The message may be shown to the user. */
export class UpstreamError extends Error {}
