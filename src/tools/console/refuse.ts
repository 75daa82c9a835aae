import type { FastifyReply } from 'fastify';

/** Refuses a request in the form in which the API server does, so that the page has one way to show it. */
export function refuse(reply: FastifyReply, code: number, message: string): FastifyReply {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  return reply.code(code).header('cache-control', 'no-store').send(status);
}
