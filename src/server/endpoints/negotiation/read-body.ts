import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { BytePieces } from '../../../base/machinery/byte-pieces.js';
import { freeBuffer } from '../../../base/machinery/free-buffer.js';
import { largeBytes, largeLimits, throwIfLargeBody, throwIfLong } from '../../../base/machinery/large-work.js';
import { turnForWork } from '../../../base/machinery/pieces-in-turn.js';
import { badRequestError, requestTooLargeError, tooManyRequestsError } from '../../../base/machinery/status-error.js';
import type { Seat } from '../../flow-control/seat.js';
import { roomForBody } from '../request-info/large-room.js';
import type { ResourceRequest } from '../resource-request.js';
import { isJson, prepareBody } from './body-text.js';

/** Smaller chunks cost less as garbage. */
const leastFreed = 4 * 1024;

/**
 * Reads the whole body of a request. Throws a 413 as soon as the body exceeds the limit, and discards it. Throws a 429
 * if the body does not arrive and another request needs the seat. Large YAML is converted to JSON, see {@link
 * prepareBody}.
 *
 * @throws LargeWork for a body that another thread should read.
 */
export async function readBody({ services, context, http }: ResourceRequest): Promise<Buffer> {
  const { inHand, options } = services;
  const room = inHand === undefined ? undefined : (bytes: number) => roomForBody(context, bytes, inHand);
  const body = await readBytes(http.raw, options.maxBodyBytes, context.seat, room);
  context.inHand?.arrived();
  // Another request may have taken the seat meanwhile.
  const seated = context.seat?.resume();
  if (seated !== undefined) await seated;
  context.body = body;
  context.bodyBytes = body.length;
  context.mark('body');
  const turn = turnForWork(context, body.length);
  if (turn !== undefined) await turn;
  throwIfLargeBody(context, body);
  // For JSON, only the structure is checked here.
  if (body.length > largeLimits.small && !isJson(body, context.contentType)) throwIfLong(context, body.length);
  return prepareBody(body, context.contentType);
}

/** What must happen before a large body of this many bytes is read, or the rest of it; undefined for nothing. */
type MakeRoom = (bytes: number) => Promise<void> | undefined;

/** Reads the whole body of a request, up to a limit (413). */
export async function readBytes(
  request: IncomingMessage | Http2ServerRequest,
  limitBytes: number,
  seat: Seat | undefined,
  room?: MakeRoom,
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > limitBytes) throw requestTooLargeError(limitBytes);
  const waiting = announced > largeBytes ? room?.(announced) : undefined;
  if (waiting !== undefined) {
    await waiting;
    // No event would end the wait for the body of a client that has left meanwhile.
    if (request.destroyed) throw badRequestError('the body of the request ended too early');
  }
  return collect(request, limitBytes, seat, announced > largeBytes ? undefined : room);
}

/** @param room called for a body that turns out to be large, because its client did not announce its length */
function collect(
  request: IncomingMessage | Http2ServerRequest,
  limitBytes: number,
  seat: Seat | undefined,
  room: MakeRoom | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces = new BytePieces();
    let makeRoom = room;
    const onData = (chunk: Buffer) => {
      if (pieces.length + chunk.length > limitBytes) {
        fail(requestTooLargeError(limitBytes));
        return;
      }
      pieces.add(chunk);
      if (pieces.length <= largeBytes || makeRoom === undefined) return;
      try {
        const waiting = makeRoom(limitBytes);
        makeRoom = undefined;
        if (waiting === undefined) return;
        request.pause();
        waiting.then(() => request.resume(), fail);
      } catch (error) {
        fail(error);
      }
    };
    const fail = (error: unknown) => {
      finish();
      request.pause();
      reject(error);
    };
    const onEnd = () => {
      finish();
      resolve(joined(pieces));
    };
    const onFault = (cause?: unknown) => {
      finish();
      reject(badRequestError('the body of the request ended too early', cause));
    };
    const giveUp = () => fail(tooManyRequestsError(1));
    const finish = () => {
      seat?.stopWaiting();
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('error', onFault);
      request.off('aborted', onFault);
      request.off('close', onFault);
    };
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', onFault);
    request.on('aborted', onFault);
    request.on('close', onFault);
    seat?.waitForBody(giveUp);
  });
}

/** Frees the pieces of a large body, whose memory would otherwise stay until a collection of the whole heap. */
function joined(body: BytePieces): Buffer {
  const { pieces, length } = body;
  const whole = body.join();
  if (length > largeBytes && pieces.length > 1) for (const piece of pieces) freeBuffer(piece, leastFreed);
  return whole;
}
