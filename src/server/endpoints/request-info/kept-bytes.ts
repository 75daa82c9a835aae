import type { FastifyRequest } from 'fastify';

/** Estimate for a request, its response, its stream or connection, and their handlers. */
const requestBytes = 24 * 1024;
/** Overhead of a header field. */
const fieldBytes = 64;

/**
 * Estimate of the memory that a request holds while it lasts, in bytes. It includes the path twice, as sent and as
 * parsed, but not the selectors parsed from it.
 */
export function keptBytes({ rawHeaders, url = '' }: FastifyRequest['raw']): number {
  let bytes = requestBytes + 2 * url.length + (rawHeaders.length / 2) * fieldBytes;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
