/** Thrown for a request for streams that this side does not know; the request is refused with this message. */
export class ProtocolError extends Error {}
