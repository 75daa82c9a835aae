import { promisify } from 'node:util';
import { constants, createGzip, type Gzip, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { type ResponseSink, ResponseWriter } from '../response-writer.js';
import type { UnreadAnswers } from '../unread-answers.js';
import { parseAccept } from './accept.js';

/** Answers longer than this are compressed for clients that take it: below, the time costs more than the bytes. */
export const compressionThresholdBytes = 128 * 1024;

/** The fastest level: objects shrink to a tenth with it already, and slower levels gain little more. */
const gzipOptions = { level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 } as const;

const gzipAsync = promisify(gzip);

/**
 * Whether `Accept-Encoding` lets an answer be gzipped (RFC 9110 section 12.5.3): gzip, or anything, is named with a
 * weight above 0, and `identity` is not preferred to it.
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

/** Whether an answer of this request is compressed once it is long enough: reads only, as clients expect it. */
export function wantsGzip({ request }: FastifyReply): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && acceptsGzip(request.headers['accept-encoding']);
}

/** Compresses outside of the event loop. */
export function compress(body: string | Uint8Array): Promise<Buffer> {
  return gzipAsync(body, gzipOptions);
}

/** The same for what is kept and sent many times: takes longer, and is smaller. */
export function compressWell(body: string | Uint8Array): Promise<Buffer> {
  return gzipAsync(body);
}

/**
 * Writes `pieces` to `sink` and ends it, waiting whenever the client reads more slowly than pieces come; nothing is
 * asked from `pieces` meanwhile; `unread` cuts it when it does not read at all. Resolves also when the client leaves. Rejects with what `pieces` threw; the response is
 * not whole then, and not ended.
 */
export async function writePieces(
  sink: ResponseSink,
  pieces: AsyncIterable<string | Uint8Array>,
  compressed: boolean,
  unread?: UnreadAnswers,
): Promise<void> {
  const writer = new ResponseWriter(sink, unread);
  if (compressed) await writeCompressed(writer, pieces);
  else {
    for await (const piece of pieces) {
      await writer.write(piece);
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
      if (!encoder.write(piece)) await drained(encoder);
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
