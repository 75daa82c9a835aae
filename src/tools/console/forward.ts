import { pipeline } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { whenClosed } from '../../base/machinery/when-closed.js';
import { answeredHeaders, forwardedHeaders, forwardedPath } from './forward-rules.js';
import { foreignPolicy } from './guard.js';
import { refuse } from './refuse.js';
import type { ConsoleSession } from './sessions.js';
import { UpstreamError } from './upstream-error.js';

/** What a user learns whose credentials have ended before the session. */
export const refusedText = 'the API server no longer accepts these credentials: log in again';

/**
 * Passes a request on to the API server as the user of the session, and the response back, both as they arrive.
 *
 * @param isOver asked about each 401: whether the API server refuses the user, and not only a server behind it
 */
export async function forward(
  session: ConsoleSession,
  request: FastifyRequest,
  reply: FastifyReply,
  isOver: (session: ConsoleSession) => Promise<boolean>,
): Promise<FastifyReply> {
  const { method, url, raw } = request;
  const forwarded = forwardedPath(method, url);
  if ('problem' in forwarded) return refuse(reply, 404, forwarded.problem);
  const left = new AbortController();
  whenClosed(reply.raw, () => left.abort());
  const signal = AbortSignal.any([session.ended.signal, left.signal]);
  const hasBody = raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined;
  try {
    const answer = await session.upstream.ask({
      agent: session.agent,
      method,
      path: forwarded.path,
      headers: forwardedHeaders(raw.headers, session.authorization),
      ...(hasBody ? { body: raw } : {}),
      signal,
    });
    if (answer.statusCode === 401 && (await isOver(session))) {
      answer.destroy();
      return refuse(reply, 401, refusedText);
    }
    reply.hijack();
    const own = { ...reply.getHeaders(), 'content-security-policy': foreignPolicy } as Record<string, string>;
    reply.raw.writeHead(answer.statusCode ?? 502, { ...own, ...answeredHeaders(answer.headers) });
    // A watch may be silent for long.
    reply.raw.flushHeaders();
    signal.addEventListener('abort', () => answer.destroy(), { once: true });
    pipeline(answer, reply.raw, () => {});
    return reply;
  } catch (error) {
    if (left.signal.aborted) return reply.hijack();
    if (session.ended.signal.aborted) return refuse(reply, 401, 'the session has ended');
    if (error instanceof UpstreamError) return refuse(reply, 502, error.message);
    throw error;
  }
}
