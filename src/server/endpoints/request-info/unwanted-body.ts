import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How much of a body a client may still send after its answer. */
export interface UnwantedLimits {
  readonly bytes: number;
  readonly patienceMs: number;
}

const streamLimits: UnwantedLimits = { bytes: 1024 * 1024, patienceMs: 10_000 };
/** An HTTP/1.1 connection ends above these limits, so a body of usual size is read. */
const connectionLimits: UnwantedLimits = { bytes: 4 * 1024 * 1024, patienceMs: 30_000 };

/*
 * Node resets a stream whose request nobody has read once the answer is written, even while the end of the answer waits for
 * the window of the connection: the client would have to take the answer for cut off. So requests are read to their ends.
 *
 * A connection of HTTP/1.1 that is closed with unread bytes is reset as well, and many clients then never look at the answer
 * that has arrived. One that stays open is of no use before the rest of the body is read: the next request waits behind it.
 */

/** Reads a request over HTTP/2 that has no body. */
export function readNothing(request: FastifyRequest['raw']): void {
  const { stream } = request as Partial<Pick<Http2ServerRequest, 'stream'>>;
  if (stream?.endAfterHeaders === true) stream.resume();
}

/** Whether so much of an HTTP/1.1 body may be unread that its connection will end: the client can stop sending. */
export function isTooLongToRead(request: FastifyRequest['raw']): boolean {
  const isOpen = request.httpVersionMajor === 1 && !request.complete;
  return isOpen && Number(request.headers['content-length'] ?? '0') > connectionLimits.bytes;
}

/**
 * Reads the rest of a request's body when its answer ends, and discards it. A client that keeps sending is cut: its
 * stream in HTTP/2, its connection in HTTP/1.1. Activity after the answer does not count as time of the request.
 */
export function readUnwanted(
  response: FastifyReply['raw'],
  context: { answeredAt: number | undefined },
  limits?: UnwantedLimits,
): void {
  if (response instanceof ServerResponse) {
    readConnection(response, limits ?? connectionLimits);
    return;
  }
  const { stream, req } = response as { stream?: ServerHttp2Stream; req: FastifyRequest['raw'] };
  if (stream === undefined || stream.readableEnded || stream.destroyed) return;
  stream.once('finish', () => {
    context.answeredAt = performance.now();
  });
  readWithin(req, limits ?? streamLimits, stream, () => stream.close(constants.NGHTTP2_NO_ERROR));
}

function readConnection({ req: request, socket }: ServerResponse, limits: UnwantedLimits): void {
  // Node itself reads a whole request that nobody has begun to read.
  if (request.readableEnded || (request.complete && request.readableFlowing === null)) return;
  if (socket === null || socket.destroyed) return;
  const { destroySoon } = socket;
  let isLast = false;
  // This is how Node closes the connection after its last answer. The client receives the end of the answer, and its
  // data is read meanwhile.
  socket.destroySoon = () => {
    isLast = true;
    socket.end();
  };
  request.once('end', () => {
    socket.destroySoon = destroySoon;
    if (isLast) socket.destroySoon();
  });
  readWithin(request, limits, socket, () => socket.destroy());
}

/** Reads a body, and cuts its client above the limits; `carrier` is closed when that is over. */
function readWithin(
  request: IncomingMessage | Http2ServerRequest,
  { bytes, patienceMs }: UnwantedLimits,
  carrier: NodeJS.EventEmitter,
  cut: () => void,
): void {
  let left = bytes;
  const late = setTimeout(cut, patienceMs).unref();
  const stop = () => {
    clearTimeout(late);
    carrier.off('close', stop);
  };
  carrier.once('close', stop);
  request.once('end', stop);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  request.resume();
}
