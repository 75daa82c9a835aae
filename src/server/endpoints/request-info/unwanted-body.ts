import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a client may still send of a body after its answer, and for how long. */
const mostBytes = 1024 * 1024;
const patienceMs = 10_000;

/*
 * Node resets a stream whose request nobody has read once the answer is written, even while the end of the answer waits for
 * the window of the connection: the client would have to take the answer for cut off. So requests are read to their ends.
 */

/** Reads a request over HTTP/2 that has no body. */
export function readNothing(request: FastifyRequest['raw']): void {
  const { stream } = request as Partial<Pick<Http2ServerRequest, 'stream'>>;
  if (stream?.endAfterHeaders === true) stream.resume();
}

/**
 * Reads what is left of the body of a request over HTTP/2 when its answer ends, and throws it away. A client that sends on
 * regardless is reset. What it does after the answer does not count as time of the request.
 */
export function readUnwanted(response: FastifyReply['raw'], context: { answeredAt: number | undefined }): void {
  const { stream, req } = response as { stream?: ServerHttp2Stream; req: FastifyRequest['raw'] };
  if (stream === undefined || stream.readableEnded || stream.destroyed) return;
  stream.once('finish', () => {
    context.answeredAt = performance.now();
  });
  let left = mostBytes;
  const reset = () => stream.close(constants.NGHTTP2_NO_ERROR);
  const late = setTimeout(reset, patienceMs).unref();
  stream.once('close', () => clearTimeout(late));
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) reset();
  });
  req.resume();
}
