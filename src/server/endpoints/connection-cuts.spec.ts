import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Registry } from 'prom-client';
import { ConnectionCuts } from './connection-cuts.js';

it('counts each cut connection by reason, and logs one of each reason in ten seconds', async () => {
  let now = 0;
  const lines: object[] = [];
  const registry = new Registry();
  const cuts = new ConnectionCuts(registry, { info: (_text, fields) => lines.push(fields ?? {}) }, () => now);
  for (let i = 0; i < 5; i++) cuts.note('address-limit', { client: '10.0.0.1' });
  cuts.note('unread-answer');
  now = 10_000;
  cuts.note('address-limit', { client: '10.0.0.2' });
  assert.deepEqual(lines, [
    { reason: 'address-limit', client: '10.0.0.1' },
    { reason: 'unread-answer' },
    { reason: 'address-limit', client: '10.0.0.2', moreBefore: 4 },
  ]);
  const text = await registry.metrics();
  assert.match(text, /plinth_connections_cut_total\{reason="address-limit"\} 6\n/);
  assert.match(text, /plinth_connections_cut_total\{reason="handshake"\} 0\n/);
});
