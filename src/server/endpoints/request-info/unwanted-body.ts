import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NoteCut } from '../connection-cuts.js';

/** How much of a body a client may still send after the response. */
export interface UnwantedLimits {
  readonly bytes: number;
  readonly patienceMs: number;
}

const streamLimits: UnwantedLimits = { bytes: 1024 * 1024, patienceMs: 10_000 };
/** Above these limits an HTTP/1.1 connection is closed. Bodies of the usual size are below, and are read. */
const connectionLimits: UnwantedLimits = { bytes: 4 * 1024 * 1024, patienceMs: 30_000 };

/*
 * Node resets an HTTP/2 stream with an unread request once the response is written, even while the end of the response
 * waits for the connection's flow-control window: to the client, the response would look truncated. So requests are
 * read to their ends.
 *
 * An HTTP/1.1 connection that is closed with unread bytes is reset as well, and many clients then ignore the response
 * that has arrived. A connection that stays open can't be used before the rest of the body is read, since the next
 * request follows it.
 */

/** Reads an HTTP/2 request that has no body. */
export function readNothing(request: FastifyRequest['raw']): void {
  const { stream } = request as Partial<Pick<Http2ServerRequest, 'stream'>>;
  if (stream?.endAfterHeaders === true) stream.resume();
}

/** Whether an HTTP/1.1 body is so long that its connection will be closed: the client can stop sending. */
export function isTooLongToRead(request: FastifyRequest['raw']): boolean {
  const isOpen = request.httpVersionMajor === 1 && !request.complete;
  return isOpen && Number(request.headers['content-length'] ?? '0') > connectionLimits.bytes;
}

/**
 * Reads the rest of a request's body when its response ends, and discards it. If a client keeps sending, its stream
 * (HTTP/2) or its connection (HTTP/1.1) is closed. The time after the response does not count as duration of the
 * request.
 */
export function readUnwanted(
  response: FastifyReply['raw'],
  context: { answeredAt: number | undefined },
  limits?: UnwantedLimits,
  note: NoteCut = () => undefined,
): void {
  if (response instanceof ServerResponse) {
    readConnection(response, limits ?? connectionLimits, note);
    return;
  }
  const { stream, req } = response as { stream?: ServerHttp2Stream; req: FastifyRequest['raw'] };
  if (stream === undefined || stream.readableEnded || stream.destroyed) return;
  stream.once('finish', () => {
    context.answeredAt = performance.now();
  });
  readWithin(req, limits ?? streamLimits, stream, () => {
    note('unwanted-body', { client: stream.session?.socket?.remoteAddress });
    stream.close(constants.NGHTTP2_NO_ERROR);
  });
}

/** How many refused bodies of a connection are still being read, and whether the connection ends after them. */
interface RefusedBodies {
  open: number;
  isLast: boolean;
}

/** Of a connection with several requests, the next one may be refused before the body of the one before has ended. */
const refusedBodies = new WeakMap<Socket, RefusedBodies>();

function readConnection(response: ServerResponse, limits: UnwantedLimits, note: NoteCut): void {
  const { req: request } = response;
  // Node itself discards a complete request that has not been read.
  if (request.readableEnded || (request.complete && request.readableFlowing === null)) return;
  const { socket } = request;
  if (socket.destroyed) return;
  const bodies = keepOpen(socket);
  bodies.open += 1;
  request.once('end', () => {
    bodies.open -= 1;
    if (bodies.open > 0) return;
    refusedBodies.delete(socket);
    // The socket's own method is on its prototype.
    Reflect.deleteProperty(socket, 'destroySoon');
    if (bodies.isLast) socket.destroySoon();
  });
  const cut = () => {
    if (socket.destroyed) return;
    note('unwanted-body', { client: socket.remoteAddress });
    socket.destroy();
  };
  const read = () => {
    if (!request.readableEnded) readWithin(request, limits, socket, cut);
  };
  // The response may have to wait for the responses to earlier requests, which may last.
  if (response.socket === null) response.once('socket', read);
  else read();
}

/** Lets a connection stay open after its last response while refused bodies are read. */
function keepOpen(socket: Socket): RefusedBodies {
  const present = refusedBodies.get(socket);
  if (present !== undefined) return present;
  const bodies = { open: 0, isLast: false };
  refusedBodies.set(socket, bodies);
  // Node calls this to close the connection after its last response. Ending only our side sends the whole response,
  // while further data of the client is still read.
  socket.destroySoon = () => {
    bodies.isLast = true;
    socket.end();
  };
  return bodies;
}

/** Reads a body and discards it; calls `cut` above the limits. Stops when `carrier` is closed. */
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
