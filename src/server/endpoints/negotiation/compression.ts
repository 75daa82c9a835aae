import { promisify } from 'node:util';
import { constants, createGzip, type Gzip, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Seat } from '../../flow-control/seat.js';
import { type ResponseSink, ResponseWriter } from '../response-writer.js';
import type { UnreadAnswers } from '../unread-answers.js';
import { parseAccept } from './accept.js';
import { answerBlocks } from './answer-blocks.js';

/**
 * Longer responses are compressed for clients that accept it; for shorter ones, compressing takes longer than sending
 * the bytes.
 */
export const compressionThresholdBytes = 128 * 1024;

/** The fastest level: it already shrinks objects to a tenth, and slower levels gain little. */
export const gzipOptions = { level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 } as const;

const gzipAsync = promisify(gzip);

/**
 * Whether `Accept-Encoding` allows gzip (RFC 9110 section 12.5.3): gzip or `*` has a weight above 0, and `identity` is
 * not preferred.
 */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  if (text === '') return false;
  if (text === 'gzip') return true;
  const weights = new Map<string, number>();
  for (const { type, quality } of parseAccept(text)) if (!weights.has(type)) weights.set(type, quality);
  const gzipWeight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return gzipWeight > 0 && gzipWeight >= (weights.get('identity') ?? 0);
}

/** Whether a response of sufficient length is compressed: only for reads, as clients expect. */
export function wantsGzip({ request }: FastifyReply): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && acceptsGzip(request.headers['accept-encoding']);
}

/** Compresses outside the event loop. */
export function compress(body: string | Uint8Array): Promise<Buffer> {
  return gzipAsync(body, gzipOptions);
}

/**
 * Writes `pieces` to `sink`, ends it, and gives the {@link answerBlocks} of the pieces back. The next piece is not
 * requested before a slow client has read the previous one; `unread` cuts a client that does not read at all, and
 * meanwhile other requests may use the `seat` of its request. Resolves even if the client leaves. Rejects with the
 * error of `pieces`; the response is then incomplete and not ended.
 */
export async function writePieces(
  sink: ResponseSink,
  pieces: AsyncIterable<string | Uint8Array>,
  compressed: boolean,
  { unread, seat }: { readonly unread?: UnreadAnswers | undefined; readonly seat?: Seat | undefined } = {},
): Promise<void> {
  const writer = new ResponseWriter(sink, unread, seat);
  if (compressed) await writeCompressed(writer, pieces);
  else {
    for await (const piece of pieces) {
      await writer.write(piece, () => answerBlocks.giveBack(piece));
      if (writer.isGone) return;
    }
  }
  writer.end();
}

async function writeCompressed(writer: ResponseWriter, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const encoder = createGzip(gzipOptions);
  writer.onGone(() => encoder.destroy());
  let fault: unknown;
  const sent = (async () => {
    for await (const chunk of encoder) await writer.write(chunk as Buffer);
  })().catch((error: unknown) => {
    fault = error;
  });
  try {
    for await (const piece of pieces) {
      if (encoder.destroyed) break;
      const mayGoOn = encoder.write(piece, (error) => {
        if (error == null) answerBlocks.giveBack(piece);
      });
      if (!mayGoOn) await drained(encoder);
    }
    if (!encoder.destroyed) encoder.end();
    await sent;
  } finally {
    encoder.destroy();
    await sent;
  }
  if (fault !== undefined && !writer.isGone) throw fault;
}

function drained(encoder: Gzip): Promise<void> {
  if (encoder.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      encoder.removeListener('drain', done);
      encoder.removeListener('close', done);
      resolve();
    };
    encoder.on('drain', done);
    encoder.on('close', done);
  });
}
