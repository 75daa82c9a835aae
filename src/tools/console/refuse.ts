import type { FastifyReply } from 'fastify';

/**
 * Tells the page that nobody is logged in. A 401 without it is that of another server, such as an extension server that
 * does not know who asks, and ends no session.
 */
const noSessionHeader = ['x-plinth-session', 'none'] as const;

/** Refuses a request in the form in which the API server does, so that the page has one way to show it. */
export function refuse(reply: FastifyReply, code: number, message: string): FastifyReply {
  if (code === 401) reply.header(...noSessionHeader);
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  return reply.code(code).header('cache-control', 'no-store').send(status);
}
