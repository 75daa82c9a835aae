import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { writePieces } from '../endpoints/negotiation/compression.js';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import type { UserInfo } from '../machinery/request-context.js';
import type { LargeLane } from './large-lane.js';

/** Of one connection, not of the request; or set anew for the other one. */
const ownFields: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);
/** Written at once to the connection. */
const sliceBytes = 256 * 1024;

/** Has a request answered in the other thread and writes its answer. The body is as it was read, if it was. */
export async function forward(
  lane: LargeLane,
  context: HttpRequestContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.raw.headers)) {
    if (value !== undefined && !name.startsWith(':') && !ownFields.has(name)) headers[name] = value;
  }
  // Without one, the other side would make up its own.
  headers['user-agent'] = context.userAgent;
  // The context has put another one in its place.
  if (context.contentType !== undefined) headers['content-type'] = context.contentType;
  const answer = await lane.answer(
    {
      method: request.method,
      url: request.raw.url ?? '/',
      headers,
      body: new Uint8Array(context.body ?? []),
      user: context.user as UserInfo,
      impersonator: context.impersonator,
    },
    context.signal,
  );
  if (reply.sent) return;
  const given = Object.entries(answer.headers).filter(([name]) => !ownFields.has(name));
  // A HEAD has no body, and tells the length of one only where it is known.
  const length = request.method === 'HEAD' ? answer.headers['content-length'] : answer.body.length;
  const known = length === undefined ? {} : { 'content-length': length };
  const all = { ...reply.getHeaders(), ...Object.fromEntries(given), ...known };
  reply.hijack();
  reply.raw.writeHead(answer.status, all as OutgoingHttpHeaders);
  if (answer.body.length <= sliceBytes) reply.raw.end(answer.body);
  else await writePieces(reply.raw, slices(answer.body), false, context.unread);
}

async function* slices(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}
