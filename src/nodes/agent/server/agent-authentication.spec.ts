import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { AgentAuthentication } from './agent-authentication.js';
import { CallerRefusal } from './caller-refusal.js';

it('the tokens of strangers take up few requests to the API, and more of them are refused', async () => {
  const answers: ((value: object) => void)[] = [];
  const api = { send: () => new Promise<object>((resolve) => answers.push(resolve)) };
  const settings = { anonymous: false, tokenWebhook: true, tokenCacheMs: 1000 };
  const authentication = new AgentAuthentication(api as never, vendorNames('k8s.io'), settings, systemTimers);
  const caller = (i: number, signal = new AbortController().signal) => {
    const request = { socket: {}, headers: { authorization: `Bearer wrong-${i}` } } as unknown as IncomingMessage;
    return authentication.callerOf(request, signal).catch((error: CallerRefusal) => error.status);
  };
  const gone = new AbortController();
  const first = Array.from({ length: 8 }, (_, i) => caller(i));
  const waiting = Array.from({ length: 64 }, (_, i) => caller(100 + i, gone.signal));
  const refused = await Promise.all(Array.from({ length: 100 }, (_, i) => caller(1000 + i)));
  assert.deepEqual(new Set(refused), new Set([429]));
  assert.equal(answers.length, 8);
  // Those that leave take no more of it.
  gone.abort();
  await Promise.all(waiting);
  const later = caller(2000);
  for (const answer of answers.splice(0)) answer({ status: { authenticated: false } });
  assert.deepEqual(await Promise.all(first), Array(8).fill(401));
  answers[0]?.({ status: { authenticated: true, user: { username: 'friend' } } });
  assert.equal(((await later) as { name: string }).name, 'friend');
});
