import type { FastifyRequest } from 'fastify';

/** A request, its response, its stream or connection, and what handles them. */
const requestBytes = 24 * 1024;
/** The places of a header field. */
const fieldBytes = 64;

/**
 * What a request keeps in memory while it lasts, in bytes: an estimate. Its path is kept as sent and as parsed. The selectors
 * that are made of it are not among it.
 */
export function keptBytes({ rawHeaders, url = '' }: FastifyRequest['raw']): number {
  let bytes = requestBytes + 2 * url.length + (rawHeaders.length / 2) * fieldBytes;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
