import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { ReviewWebhook } from '../support/review-webhook.js';

/*
 * An audit webhook under load that is first quick, then slow, then unavailable, then back, beside a log file. Every
 * event that was made is delivered, counted as lost, or on its way; none is lost without a count, and requests don't
 * notice. Takes about a minute.
 */

// biome-ignore lint/suspicious/noExplicitAny: whatever was written
type Event = any;

const phases = [
  { name: 'quick', ms: 5_000 },
  { name: 'slow', ms: 12_000 },
  { name: 'away', ms: 12_000 },
  { name: 'back', ms: 8_000 },
] as const;
const clients = 12;
const rules = [
  { level: 'None', nonResourceURLs: ['*'] },
  { level: 'RequestResponse', omitStages: ['RequestReceived'] },
];

const cluster = await TestCluster.start({ servers: 0 });
const webhook = await ReviewWebhook.start();
let phase: (typeof phases)[number]['name'] = 'quick';
const posted = new Map<string, number>();
webhook.answer = async ({ body }) => {
  if (phase === 'away') return 'cut';
  if (phase === 'slow') await delay(3_000);
  for (const { auditID } of body.items as readonly Event[]) posted.set(auditID, (posted.get(auditID) ?? 0) + 1);
  return { body: {} };
};
const path = (name: string) => join(cluster.directory, name);
writeFileSync(path('policy.yaml'), JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
writeFileSync(path('webhook.json'), webhook.config());
try {
  const server = await cluster.addServer(undefined, [
    `--audit-policy-file=${path('policy.yaml')}`,
    `--audit-log-path=${path('audit.log')}`,
    '--audit-log-mode=batch',
    `--audit-webhook-config-file=${path('webhook.json')}`,
    '--audit-webhook-batch-buffer-size=1000',
    '--audit-webhook-batch-max-size=50',
    '--audit-webhook-batch-max-wait=200ms',
    '--audit-webhook-initial-backoff=200ms',
  ]);
  let requests = 0;
  let isOver = false;
  const load = Array.from({ length: clients }, async () => {
    while (!isOver) {
      const { status } = await server.client.get('/api/v1/namespaces/default/configmaps?limit=1');
      assert.equal(status, 200);
      requests++;
    }
  });
  const metric = async (name: string, labels = '') => {
    const { text } = await server.client.get('/metrics');
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`apiserver_audit_${name}`) && line.includes(labels));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  };
  for (const { name, ms } of phases) {
    phase = name;
    const before = requests;
    await delay(ms);
    const dropped = await metric('dropped_events_total', 'webhook');
    const waiting = await metric('waiting_events', 'webhook');
    console.log(
      JSON.stringify({
        phase: name,
        requestsPerSecond: Math.round(((requests - before) / ms) * 1000),
        dropped,
        waiting,
      }),
    );
  }
  isOver = true;
  await Promise.all(load);
  const settled = async () => (await metric('waiting_events')) === 0;
  await eventually(settled, 'the delivery of what waits', 60_000);
  const made = await metric('event_total');
  const delivered = await metric('delivered_events_total', 'webhook');
  const dropped = await metric('dropped_events_total', 'webhook');
  const inLog = await metric('delivered_events_total', '"log"');
  const lines = readFileSync(path('audit.log'), 'utf8').trim().split('\n');
  const ids = new Set(lines.map((line) => JSON.parse(line).auditID));
  const repeated = [...posted.values()].filter((times) => times > 1).length;
  console.log(JSON.stringify({ made, delivered, dropped, inLog, lines: lines.length, posted: posted.size, repeated }));
  assert.equal(made, delivered + dropped, 'made = delivered + dropped');
  assert.equal(made, inLog, 'the log has everything');
  assert.equal(lines.length, made);
  assert.equal(ids.size, made);
  assert.ok(
    [...posted.keys()].every((id) => ids.has(id)),
    'nothing was posted that is not in the log',
  );
  // A post whose answer came too late counts as lost, and may have arrived.
  assert.ok(posted.size >= delivered, `${posted.size} arrived, ${delivered} count as delivered`);
  assert.ok(dropped > 0, 'the load was too small to lose anything');
  assert.match(server.log, /audit events are lost backend=webhook/);
  console.log('The counts add up.');
} finally {
  await cluster.stop();
  await webhook.stop();
}
