import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UserInfo } from '../../base/machinery/request-context.js';
import { writePieces } from '../endpoints/negotiation/compression.js';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import type { LargeRequestAnswer, LargeRequestMessage } from './large-request-messages.js';

/** Headers that concern one connection only, and headers that are set separately for the other thread. */
const ownFields: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'upgrade',
]);
/** Number of bytes written to the connection at once. */
const sliceBytes = 256 * 1024;

interface AnswersRequests {
  answer(
    request: LargeRequestMessage,
    signal: AbortSignal,
    onRemote: (isRemote: boolean) => void,
  ): Promise<LargeRequestAnswer>;
}

/** Has the other thread process a request, and writes the response. Sends the body along if it was already read. */
export async function forward(
  thread: AnswersRequests,
  context: HttpRequestContext,
  request: FastifyRequest,
  reply: FastifyReply,
  definitionsAt: bigint,
): Promise<void> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.raw.headers)) {
    if (value !== undefined && !name.startsWith(':') && !ownFields.has(name)) headers[name] = value;
  }
  // Without this header, the other thread would use a default user agent.
  headers['user-agent'] = context.userAgent;
  // The context has replaced the original header.
  if (context.contentType !== undefined) headers['content-type'] = context.contentType;
  if (context.trace !== undefined) {
    headers.traceparent = context.trace.traceparent;
    if (context.trace.tracestate !== '') headers.tracestate = context.trace.tracestate;
  }
  const begunAt = performance.now();
  const answer = await thread.answer(
    {
      method: request.method,
      url: request.raw.url ?? '/',
      headers,
      body: new Uint8Array(context.body ?? []),
      user: context.user as UserInfo,
      impersonator: context.impersonator,
      audit: context.audit?.followed,
      definitionsAt,
    },
    context.signal,
    (isRemote) => context.seat?.setRemote(isRemote),
  );
  context.waitedMs += answer.waitedMs;
  // If the request is traced, the thread sends the spans itself.
  if (context.trace === undefined) notePhases(context, begunAt, answer.phases);
  if (answer.audit !== undefined) context.audit?.join(answer.audit);
  if (reply.sent) return;
  const given = Object.entries(answer.headers).filter(([name]) => !ownFields.has(name));
  // A HEAD has no body. Its length is reported only if it is known.
  const length = request.method === 'HEAD' ? answer.headers['content-length'] : answer.body.length;
  const known = length === undefined ? {} : { 'content-length': length };
  const all = { ...reply.getHeaders(), ...Object.fromEntries(given), ...known };
  reply.hijack();
  reply.raw.writeHead(answer.status, all as OutgoingHttpHeaders);
  if (answer.body.length <= sliceBytes) {
    reply.raw.end(answer.body);
    return;
  }
  // The work is done. A seat that is lost to others while the client reads might not come back in time, and the response,
  // perhaps to a write that was made, would be cut.
  context.seat?.leave();
  context.inHand?.leave();
  await writePieces(reply.raw, slices(answer.body), false, { unread: context.unread });
}

function notePhases({ phaseEnds }: HttpRequestContext, begunAt: number, phases: LargeRequestAnswer['phases']): void {
  const spent = phases.reduce((sum, [, ms]) => sum + ms, 0);
  phaseEnds.push('thread', Math.max(begunAt, performance.now() - spent));
  let at = phaseEnds.at(-1) as number;
  for (const [name, ms] of phases) {
    at += ms;
    phaseEnds.push(name, at);
  }
}

async function* slices(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}
