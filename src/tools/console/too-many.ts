import type { FastifyReply } from 'fastify';
import { refuse } from './refuse.js';

/** Refuses what exceeds a limit. */
export function tooMany(reply: FastifyReply, problem: string): FastifyReply {
  return refuse(reply.header('retry-after', '1'), 429, problem);
}
