/** Bytes that no valid WebSocket client sends. `code` is for the closing frame (RFC 6455 section 7.4.1). */
export class WebSocketError extends Error {
  constructor(
    message: string,
    readonly code = closeCodes.protocolError,
  ) {
    super(message);
  }
}

export const closeCodes = { normal: 1000, goingAway: 1001, protocolError: 1002, internalError: 1011 } as const;
