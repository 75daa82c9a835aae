/** Bytes that are not SPDY/3.1. */
export class SpdyError extends Error {}
