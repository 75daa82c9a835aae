import type { FastifyReply, FastifyRequest } from 'fastify';

const methods = 'POST, GET, OPTIONS, PUT, DELETE, PATCH';
const requestHeaders =
  'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since';

/** The flags for headers in every response: those for pages of other origins and for browsers. */
export interface BrowserRules {
  /** Regular expressions of `--cors-allowed-origins`, already checked. */
  readonly allowedOrigins: readonly string[];
  /** Directives of `--strict-transport-security-directives`. */
  readonly strictTransport: readonly string[];
}

/**
 * Sets the headers for browsers; undefined when the flags require none. It runs before anything else, so a browser's
 * preflight request needs no credentials: it is answered here, and the function returns true.
 */
export function browserHeaders(
  rules: BrowserRules,
): ((request: FastifyRequest, reply: FastifyReply) => boolean) | undefined {
  const { allowedOrigins, strictTransport } = rules;
  if (allowedOrigins.length === 0 && strictTransport.length === 0) return undefined;
  const origins = allowedOrigins.map((pattern) => new RegExp(pattern));
  const transport = strictTransport.join('; ');
  return (request, reply) => {
    if (transport !== '') reply.header('strict-transport-security', transport);
    const { origin } = request.headers;
    if (origin === undefined || !origins.some((pattern) => pattern.test(origin))) return false;
    reply
      .header('access-control-allow-origin', origin)
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', requestHeaders)
      .header('access-control-expose-headers', 'Date')
      .header('access-control-allow-credentials', 'true');
    if (request.method !== 'OPTIONS') return false;
    reply.code(204).send();
    return true;
  };
}
