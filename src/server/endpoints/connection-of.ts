import type { FastifyReply } from 'fastify';

/** The object that all requests of a connection share: its HTTP/2 session or its socket. */
export function connectionOf(response: FastifyReply['raw']): object {
  const { stream } = response as { stream?: { session?: object } };
  return stream?.session ?? (response as { socket?: object | null }).socket ?? response;
}
