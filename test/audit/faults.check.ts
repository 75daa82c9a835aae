import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { eventually, TestCluster, type TestServer } from '../e2e/support/test-cluster.js';
import { serverAuth, TestIdentity } from '../support/test-authority.js';

/*
 * Audit backends that break as real ones do: a full disk, a log that is removed, webhooks that answer byte by byte or
 * never, certificates that expire, a database that is unavailable or has lost the table. Nothing is lost without a
 * count, and no request waits longer than documented. Takes some minutes, most of them limits of the server.
 */

const configMaps = '/api/v1/namespaces/default/configmaps';
let cluster: TestCluster;
let folder: string;

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  folder = mkdtempSync(join(tmpdir(), 'plinth-audit-faults-'));
  const rules = [
    { level: 'None', nonResourceURLs: ['*'] },
    { level: 'None', resources: [{ group: 'coordination.k8s.io' }] },
    { level: 'RequestResponse', omitStages: ['RequestReceived'] },
  ];
  writeFileSync(join(folder, 'policy.yaml'), JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
});

after(async () => {
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function serve(...flags: string[]): Promise<TestServer> {
  return cluster.addServer(undefined, [`--audit-policy-file=${join(folder, 'policy.yaml')}`, ...flags]);
}

async function end(server: TestServer): Promise<void> {
  cluster.servers.splice(cluster.servers.indexOf(server), 1);
  await server.stop();
}

/** The sum of a metric of the audit trail, of the series with all of the labels. */
async function metric({ client }: TestServer, name: string, ...labels: readonly string[]): Promise<number> {
  const { text } = await client.get('/metrics');
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith(`apiserver_audit_${name}`) && labels.every((label) => line.includes(label)));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Sends requests one after the other; the longest time of one, in milliseconds. */
async function send({ client }: TestServer, count: number, data = ''): Promise<number> {
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    const { status, text } = await client.post(configMaps, { metadata: { generateName: 'x-' }, data: { data } });
    assert.equal(status, 201, text);
    longest = Math.max(longest, performance.now() - began);
  }
  return longest;
}

/** Made, delivered, dropped and waiting events of a backend. */
async function countsOf(server: TestServer, backend: string) {
  const label = `backend="${backend}"`;
  const [made, delivered, dropped, waiting] = await Promise.all([
    metric(server, 'event_total'),
    metric(server, 'delivered_events_total', label),
    metric(server, 'dropped_events_total', label),
    metric(server, 'waiting_events', label),
  ]);
  return { made, delivered, dropped, waiting };
}

async function addUp(server: TestServer, backend: string): Promise<void> {
  const counts = await countsOf(server, backend);
  assert.equal(counts.made, counts.delivered + counts.dropped + counts.waiting, JSON.stringify(counts));
}

describe('a log', () => {
  let disk: string;

  before(() => {
    disk = mkdtempSync(join(folder, 'disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      disk = '';
    }
  });
  after(() => {
    if (disk !== '') execFileSync('umount', [disk]);
  });

  for (const mode of ['blocking', 'batch'] as const) {
    it(`on a full disk (${mode}) is counted as lost, and goes on when there is room`, async (context) => {
      if (disk === '') return context.skip('no small disk can be made here');
      const log = join(disk, `${mode}.log`);
      const server = await serve(`--audit-log-path=${log}`, `--audit-log-mode=${mode}`, '--audit-log-maxsize=1');
      await send(server, 120, 'x'.repeat(40_000));
      await eventually(async () => (await metric(server, 'waiting_events')) === 0, 'the writes');
      const full = await countsOf(server, 'log');
      assert.ok(full.dropped > 10, JSON.stringify(full));
      await addUp(server, 'log');
      assert.match(server.log, /audit events are lost backend=log reason=failure events=\d+ error="?ENOSPC/);
      const rotated = readdirSync(disk).filter((name) => name.startsWith(`${mode}-`));
      assert.ok(rotated.length >= 1, String(readdirSync(disk)));
      for (const name of rotated) rmSync(join(disk, name));
      await send(server, 5, 'y');
      await eventually(async () => (await metric(server, 'waiting_events')) === 0, 'the writes');
      const after = await countsOf(server, 'log');
      assert.equal(after.dropped, full.dropped);
      const text = readFileSync(log, 'utf8');
      const whole = text.split('\n').filter((line) => {
        try {
          return JSON.parse(line).kind === 'Event';
        } catch {
          return false;
        }
      });
      assert.ok(whole.filter((line) => line.includes('"data":"y"')).length >= 5);
      await end(server);
      for (const name of readdirSync(disk)) rmSync(join(disk, name));
    });
  }

  it('whose file, and then whose folder, is taken away is written again when that is possible', async () => {
    const place = join(folder, 'place');
    const log = join(place, 'audit.log');
    const server = await serve(`--audit-log-path=${log}`);
    await send(server, 3);
    rmSync(log);
    // Another process may have rotated the file: this is checked four times a second.
    await delay(400);
    await send(server, 3);
    assert.equal(readFileSync(log, 'utf8').trim().split('\n').length, 3);
    rmSync(place, { recursive: true });
    writeFileSync(place, 'no folder');
    await delay(400);
    const longest = await send(server, 5);
    console.log(`longest request without a folder for the log: ${longest.toFixed(0)} ms`);
    const { dropped } = await countsOf(server, 'log');
    assert.equal(dropped, 5);
    rmSync(place);
    mkdirSync(place);
    await send(server, 2);
    assert.equal(readFileSync(log, 'utf8').trim().split('\n').length, 2);
    await addUp(server, 'log');
    await end(server);
  });
});

/** A webhook over TLS whose certificate can be replaced. */
class AuditWebhook {
  posted = 0;
  answer: (response: ServerResponse) => void = (response) => response.end('{}');
  private readonly open = new Set<ServerResponse>();

  private constructor(
    readonly server: ReturnType<typeof createSecureServer>,
    private readonly authority: TestIdentity,
  ) {}

  static async start(): Promise<AuditWebhook> {
    const authority = await TestIdentity.root('audit');
    const server = createSecureServer(await AuditWebhook.identity(authority, {}));
    const hook = new AuditWebhook(server, authority);
    server.on('request', async (request, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      hook.posted += JSON.parse(Buffer.concat(chunks).toString('utf8')).items.length;
      hook.open.add(response);
      response.once('close', () => hook.open.delete(response));
      hook.answer(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return hook;
  }

  private static async identity(
    authority: TestIdentity,
    life: { readonly notAfter?: Date; readonly notBefore?: Date },
  ) {
    const identity = await authority.issue({
      subject: [{ CN: ['hook'] }],
      usages: [serverAuth],
      names: [{ type: 'ip', value: '127.0.0.1' }],
      ...life,
    });
    return { cert: identity.chain, key: identity.key };
  }

  async present(life: { readonly notAfter?: Date; readonly notBefore?: Date }): Promise<void> {
    this.server.setSecureContext(await AuditWebhook.identity(this.authority, life));
    this.server.closeAllConnections();
  }

  config(): string {
    const server = `https://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
    const authority = Buffer.from(this.authority.cert).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    return JSON.stringify(config);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('a webhook', () => {
  let hook: AuditWebhook;
  let flags: string[];

  before(async () => {
    hook = await AuditWebhook.start();
    const file = join(folder, 'webhook.json');
    writeFileSync(file, hook.config());
    flags = [
      `--audit-webhook-config-file=${file}`,
      '--audit-webhook-batch-max-wait=100ms',
      '--audit-webhook-initial-backoff=100ms',
    ];
  });
  after(() => hook?.stop());

  it('that answers byte by byte, or never, costs its events and no request', async () => {
    const trickle = (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 1000 });
      const timer = setInterval(() => response.write('x'), 1000);
      response.once('close', () => clearInterval(timer));
    };
    for (const answer of [trickle, () => undefined]) {
      hook.answer = answer;
      const server = await serve(...flags, '--audit-webhook-batch-buffer-size=50', '--audit-webhook-batch-max-size=5');
      const longest = await send(server, 200);
      console.log(`longest request beside a webhook that hangs: ${longest.toFixed(0)} ms`);
      assert.ok(longest < 5000, `${longest} ms`);
      await addUp(server, 'webhook');
      const { dropped, waiting } = await countsOf(server, 'webhook');
      assert.ok(dropped > 50 && waiting > 0, `${dropped} dropped, ${waiting} waiting`);
      assert.match(server.log, /audit events are lost backend=webhook reason=buffer/);
      const began = performance.now();
      await end(server);
      const stopMs = performance.now() - began;
      console.log(`the process ended after ${stopMs.toFixed(0)} ms`);
      assert.ok(stopMs < 30_000);
      assert.match(server.log, /audit events are lost backend=webhook reason=shutdown/);
    }
  });

  it('that never answers holds up a request no longer than documented, in the blocking mode', async () => {
    hook.answer = () => undefined;
    const server = await serve(...flags, '--audit-webhook-mode=blocking');
    const longest = await send(server, 1);
    console.log(`a request beside a blocking webhook that never answers: ${longest.toFixed(0)} ms`);
    assert.ok(longest > 9_000 && longest < 25_000, `${longest} ms`);
    await end(server);
  });

  it('whose certificate expires gets nothing until it has a new one', async () => {
    hook.answer = (response) => response.end('{}');
    const server = await serve(...flags);
    await send(server, 3);
    await eventually(async () => (await countsOf(server, 'webhook')).delivered >= 3, 'the first events');
    await hook.present({ notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() - 3_600_000) });
    const before = hook.posted;
    await send(server, 3);
    await eventually(async () => (await countsOf(server, 'webhook')).dropped >= 3, 'the loss', 30_000);
    assert.equal(hook.posted, before);
    assert.match(server.log, /audit events are lost backend=webhook reason=failure .*expired/);
    await hook.present({});
    await send(server, 3);
    await eventually(() => hook.posted >= before + 3, 'the events after it', 30_000);
    await eventually(async () => (await countsOf(server, 'webhook')).waiting === 0, 'the delivery');
    await addUp(server, 'webhook');
    await end(server);
  });
});

describe('the database', () => {
  let client: pg.Client;

  before(async () => {
    client = new pg.Client({ connectionString: cluster.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
  });
  after(() => client?.end().catch(() => undefined));

  const rows = async () => Number((await client.query('select count(*) from plinth.audit_events')).rows[0].count);

  it('that has lost the table, or its right to it, loses nothing that fits the buffer', async () => {
    const server = await serve('--audit-database');
    await send(server, 3);
    await eventually(async () => (await rows()) >= 3, 'the first events');
    await client.query('alter table plinth.audit_events rename to audit_events_away');
    const longest = await send(server, 20);
    await eventually(() => /audit events wait for the database/.test(server.log), 'the report', 30_000);
    console.log(`longest request without the table: ${longest.toFixed(0)} ms`);
    assert.equal((await countsOf(server, 'database')).dropped, 0, server.log);
    await client.query('alter table plinth.audit_events_away rename to audit_events');
    await eventually(async () => (await countsOf(server, 'database')).waiting === 0, 'the delivery', 60_000);
    const { made, delivered } = await countsOf(server, 'database');
    assert.equal(delivered, made);
    assert.equal(await rows(), made);
    assert.match(server.log, /audit events are written to the database again/);
    await end(server);
  });

  it('that is away for a while gets what was noted before it went', async () => {
    const server = await serve('--audit-database', '--audit-database-buffer-size=40');
    await send(server, 2);
    await eventually(async () => (await countsOf(server, 'database')).waiting === 0, 'the first events');
    await cluster.postgres.shutDown('immediate');
    // Refused reads are recorded as well.
    await Promise.all(
      Array.from({ length: 100 }, () => server.client.get(`${configMaps}?timeoutSeconds=2`).catch(() => undefined)),
    );
    await addUp(server, 'database');
    const away = await countsOf(server, 'database');
    assert.ok(away.waiting > 0 && away.dropped > 0, JSON.stringify(away));
    assert.match(server.log, /audit events are lost backend=database reason=buffer/);
    await cluster.postgres.startAgain();
    await eventually(async () => (await countsOf(server, 'database')).waiting === 0, 'the delivery', 60_000);
    await addUp(server, 'database');
    await end(server);
  });
});
