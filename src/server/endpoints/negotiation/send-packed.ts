import type { OutgoingHttpHeaders } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { writePieces } from './compression.js';
import type { Packed } from './pack-in-turns.js';

/**
 * Sends compressed content with a 200 and the headers of the reply. For a client that does not accept compression, it
 * is decompressed piece by piece, as the client reads.
 */
export async function sendPacked(
  reply: FastifyReply,
  contentType: string,
  { compressed, length }: Packed,
  isCompressed: boolean,
): Promise<void> {
  if (reply.sent) return;
  const { raw, request } = reply;
  const headers = { ...reply.getHeaders(), 'content-type': contentType } as OutgoingHttpHeaders;
  reply.hijack();
  headers['content-length'] = isCompressed ? compressed.length : length;
  if (isCompressed) headers['content-encoding'] = 'gzip';
  raw.writeHead(200, headers);
  if (isCompressed || request.method === 'HEAD') raw.end(request.method === 'HEAD' ? undefined : compressed);
  else await writePieces(raw, unpacked(compressed), false, request.plinthContext);
}

async function* unpacked(compressed: Buffer): AsyncGenerator<Uint8Array> {
  const decoder = createGunzip();
  decoder.end(compressed);
  yield* decoder;
}
