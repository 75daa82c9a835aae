import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { endWithUs, removeWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';
import { ApiClient } from './support/api-client.js';
import { eventually, freePort } from './support/test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';

describe('dev with simulated nodes', () => {
  let postgres: TestPostgres;
  let directory: string;
  let child: ChildProcess;
  let admin: ApiClient;
  const file = (name: string) => readFileSync(join(directory, 'pki', name), 'utf8');

  before(async () => {
    postgres = await startTestPostgres();
    directory = mkdtempSync(join(tmpdir(), 'plinth-dev-'));
    removeWithUs(directory);
    const port = await freePort();
    const databaseUrl = await postgres.createTestDatabase();
    const flags = [`--data-dir=${directory}`, `--secure-port=${port}`, '--simulated-nodes=2'];
    child = spawn(process.execPath, [mainFile, 'dev', ...flags], {
      env: { ...process.env, PLINTH_DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endWithUs(child);
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        said += String(chunk);
        if (said.includes('Try:')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`dev ended with ${code}`)));
    });
    const credentials = { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') };
    admin = new ApiClient(`https://127.0.0.1:${port}`, credentials);
  });
  after(async () => {
    admin?.close();
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('runs the pods of a deployment', async () => {
    // Pods that come before a node go to the other one.
    await eventually(async () => {
      const { items } = (await admin.get('/api/v1/nodes')).body as { items: { spec: { taints?: object[] } }[] };
      return items.length === 2 && items.every(({ spec }) => (spec.taints ?? []).length === 0);
    }, 'both nodes');
    const made = await admin.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'web' },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    });
    assert.equal(made.status, 201, made.text);
    await eventually(async () => {
      const { body } = await admin.get('/apis/apps/v1/namespaces/default/deployments/web');
      return body.status.readyReplicas === 4;
    }, 'four ready replicas');
    const { body } = await admin.get(pods);
    const nodes = new Set(body.items.map(({ spec }: { spec: { nodeName: string } }) => spec.nodeName));
    assert.deepEqual([...nodes].sort(), ['sim-0', 'sim-1']);
  });

  it('shows their logs, over connections that both sides check', async () => {
    const [pod] = (await admin.get(pods)).body.items;
    const { status, text } = await admin.get(`${pods}/${pod.metadata.name}/log`);
    assert.deepEqual([status, text], [200, 'This is the simulated container c of the image nginx.\n']);
    const { body: node } = await admin.get(`/api/v1/nodes/${pod.spec.nodeName}`);
    const { Port: port } = node.status.daemonEndpoints.kubeletEndpoint;
    const host = node.status.addresses[0].address;
    // Not even the certificate of the administrator opens them without the server.
    const direct = () =>
      new Promise((resolve, reject) => {
        const options = {
          ca: file('node-client-ca.crt'),
          cert: file('admin.crt'),
          key: file('admin.key'),
          agent: false,
        };
        request(`https://${host}:${port}/containerLogs/default/${pod.metadata.name}/c`, options, resolve)
          .on('error', reject)
          .end();
      });
    await assert.rejects(direct());
  });

  it('pretends to run commands', async () => {
    const [pod] = (await admin.get(pods)).body.items;
    const path = `${admin.url.replace('https', 'wss')}${pods}/${pod.metadata.name}/exec?command=cat&stdin=1&stdout=1`;
    for (const protocol of ['v5.channel.k8s.io', 'v4.channel.k8s.io']) {
      const credentials = { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') };
      const socket = new WebSocket(path, [protocol], credentials);
      await once(socket, 'open');
      socket.send(Buffer.from('\0hello'));
      const [data] = (await once(socket, 'message')) as [Buffer];
      assert.equal(data.toString(), '\x01hello');
      socket.close();
      await once(socket, 'close');
    }
  });

  it('lets nodes do what nodes may, and no more', async () => {
    const as = { 'impersonate-user': 'system:node:sim-0', 'impersonate-group': 'system:nodes' };
    const other = await admin.patch('/api/v1/nodes/sim-1/status', 'merge', { status: {} }, { headers: as });
    assert.equal(other.status, 403);
    assert.equal((await admin.get('/api/v1/secrets', { headers: as })).status, 403);
    assert.equal((await admin.get('/api/v1/nodes/sim-0', { headers: as })).status, 200);
  });
});
