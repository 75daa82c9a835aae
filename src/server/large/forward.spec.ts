import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { it } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { tooManyRequestsError } from '../../base/machinery/status-error.js';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import type { Seat } from '../flow-control/seat.js';
import { forward } from './forward.js';

it('a long answer is sent to its end on a busy server, although its client reads slowly', async () => {
  const body = new Uint8Array(2 ** 21).fill(120);
  const answer = { status: 201, headers: {}, body, audit: undefined, waitedMs: 0, phases: [] };
  let received = 0;
  const raw = Object.assign(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        received += chunk.length;
        setImmediate(done);
      },
    }),
    { writeHead: () => undefined },
  );
  const ended = new Promise((resolve) => raw.once('close', resolve));
  // Others take the seat as soon as the client does not read, and keep it.
  let hasLeft = false;
  const seat: Seat = {
    leave: () => {
      hasLeft = true;
    },
    waitForBody: () => undefined,
    waitForReader: () => undefined,
    setRemote: () => undefined,
    stopWaiting: () => undefined,
    resume: () => (hasLeft ? undefined : Promise.reject(tooManyRequestsError(1))),
  };
  const context = { seat, phaseEnds: [], waitedMs: 0, userAgent: '', signal: new AbortController().signal };
  const reply = { raw, sent: false, getHeaders: () => ({}), hijack: () => undefined };
  await forward(
    { answer: async () => answer },
    context as unknown as HttpRequestContext,
    { method: 'POST', raw: { headers: {}, url: '/' } } as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
    0n,
  );
  await ended;
  assert.equal(received, body.length);
  assert.ok(hasLeft, 'the seat is free for others');
});
