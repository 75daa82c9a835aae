import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { parseAccept } from './accept.js';

/** Answers longer than this are compressed for clients that take it: below, the time costs more than the bytes. */
export const compressionThresholdBytes = 128 * 1024;

/** The fastest level: objects shrink to a tenth with it already, and slower levels gain little more. */
const gzipOptions = { level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 } as const;

const gzipAsync = promisify(gzip);

/** Where the bytes of an answer go: the response of either HTTP version. */
export type ResponseSink = FastifyReply['raw'];

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

/**
 * Writes `pieces` to `sink` and ends it, waiting whenever the client reads more slowly than pieces come; nothing is
 * asked from `pieces` meanwhile. Resolves also when the client leaves. Rejects with what `pieces` threw; the response is
 * not whole then, and not ended.
 */
export async function writePieces(
  sink: ResponseSink,
  pieces: AsyncIterable<string | Uint8Array>,
  compressed: boolean,
): Promise<void> {
  const target = sink as NodeJS.WritableStream & { readonly destroyed?: boolean };
  if (!compressed) {
    for await (const piece of pieces) {
      if (target.destroyed === true) return;
      if (!target.write(piece)) await drained(target);
    }
    if (target.destroyed !== true) target.end();
    return;
  }
  const encoder = createGzip(gzipOptions);
  const isGone = () => target.destroyed === true;
  const leave = () => encoder.destroy();
  target.once('close', leave);
  encoder.on('data', (chunk: Buffer) => {
    if (isGone() || target.write(chunk)) return;
    encoder.pause();
    target.once('drain', () => encoder.resume());
  });
  const encoded = finished(encoder).catch((error: unknown) => {
    if (!isGone()) throw error;
  });
  try {
    for await (const piece of pieces) {
      if (isGone()) return;
      if (!encoder.write(piece)) await drained(encoder);
    }
    encoder.end();
    await encoded;
    if (!isGone()) target.end();
  } finally {
    target.removeListener('close', leave);
    encoder.destroy();
    await encoded.catch(() => undefined);
  }
}

/** Resolves when more may be written, or nothing can be any more. */
function drained(target: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      target.removeListener('drain', done);
      target.removeListener('close', done);
      resolve();
    };
    target.on('drain', done);
    target.on('close', done);
  });
}
