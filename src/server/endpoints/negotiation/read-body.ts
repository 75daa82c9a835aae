import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { largeLimits, throwIfLargeBody, throwIfLong } from '../../../base/machinery/large-work.js';
import { turnFor } from '../../../base/machinery/pieces-in-turn.js';
import { badRequestError, requestTooLargeError, tooManyRequestsError } from '../../../base/machinery/status-error.js';
import type { Seat } from '../../flow-control/seat.js';
import type { ResourceRequest } from '../resource-request.js';
import { isJson, prepareBody } from './body-text.js';

const empty = Buffer.alloc(0);

/**
 * Reads the whole body of a request. Throws a 413 as soon as the body exceeds the limit, and discards it. Throws a 429
 * if the body does not arrive and another request needs the seat. Large YAML is converted to JSON, see {@link
 * prepareBody}.
 *
 * @throws LargeWork for a body that another thread should read.
 */
export async function readBody({ services, context, http }: ResourceRequest): Promise<Buffer> {
  const body = await readBytes(http.raw, services.options.maxBodyBytes, context.seat);
  // Another request may have taken the seat meanwhile.
  const seated = context.seat?.resume();
  if (seated !== undefined) await seated;
  context.body = body;
  context.mark('body');
  const turn = turnFor(context, body.length);
  if (turn !== undefined) await turn;
  throwIfLargeBody(context, body);
  // For JSON, only the structure is checked here.
  if (body.length > largeLimits.small && !isJson(body, context.contentType)) throwIfLong(context, body.length);
  return prepareBody(body, context.contentType);
}

/** Reads the whole body of a request, up to a limit (413). */
export function readBytes(
  request: IncomingMessage | Http2ServerRequest,
  limitBytes: number,
  seat: Seat | undefined,
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > limitBytes) return Promise.reject(requestTooLargeError(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) {
        finish();
        request.pause();
        reject(requestTooLargeError(limitBytes));
        return;
      }
      chunks.push(chunk);
    };
    const onEnd = () => {
      finish();
      resolve(
        chunks.length === 0 ? empty : chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length),
      );
    };
    const onFault = (cause?: unknown) => {
      finish();
      reject(badRequestError('the body of the request ended too early', cause));
    };
    const giveUp = () => {
      finish();
      request.pause();
      reject(tooManyRequestsError(1));
    };
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
