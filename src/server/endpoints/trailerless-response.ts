import { type Http2ServerRequest, Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';

type Respond = ServerHttp2Stream['respond'];

/**
 * A response over HTTP/2 without trailers. Node offers trailers with every response: when the body has been sent, it waits
 * for them for a turn of the event loop, and ends the stream with another frame, another TLS record and another write to
 * the socket. Here the last frame of the body ends the stream.
 */
export class TrailerlessResponse<
  Request extends Http2ServerRequest = Http2ServerRequest,
> extends Http2ServerResponse<Request> {
  constructor(stream: ServerHttp2Stream) {
    super(stream);
    stream.respond = respond;
  }
}

/** Replaces `respond` of a stream. The class of streams is not exported, so its own method is found at the first one. */
function respond(this: ServerHttp2Stream, ...[headers, options]: Parameters<Respond>): void {
  const own = (Object.getPrototypeOf(this) as { respond: Respond }).respond;
  own.call(this, headers, { ...options, waitForTrailers: false });
}
