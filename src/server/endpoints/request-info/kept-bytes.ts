import type { FastifyRequest } from 'fastify';

/** A request, its response, its stream or connection, and their handlers. */
const requestBytes = 24 * 1024;
/** The places of a header field. */
const fieldBytes = 64;

/**
 * The memory that a request keeps while it lasts, in bytes: an estimate. Its path is kept as sent and as parsed. The
 * selectors made from it are not included.
 */
export function keptBytes({ rawHeaders, url = '' }: FastifyRequest['raw']): number {
  let bytes = requestBytes + 2 * url.length + (rawHeaders.length / 2) * fieldBytes;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
