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
    const flags = [
      `--data-dir=${directory}`,
      `--secure-port=${port}`,
      '--simulated-nodes=2',
      '--horizontal-pod-autoscaler-sync-period=1s',
      '--horizontal-pod-autoscaler-initial-readiness-delay=1ms',
      '--horizontal-pod-autoscaler-cpu-initialization-period=1ms',
    ];
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
    // Pods that are created before the second node run on the other one.
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

  it('measures them, and scales by that', async () => {
    const metrics = '/apis/metrics.k8s.io/v1beta1';
    const [used] = (await admin.get(`${pods}?labelSelector=app=web`)).body.items;
    const annotations = { 'sim.plinth.dev/cpu': '450m', 'sim.plinth.dev/memory': '64Mi' };
    await admin.patch(`${pods}/${used.metadata.name}`, 'merge', { metadata: { annotations } });
    const made = await admin.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'busy' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'busy' } },
        template: {
          metadata: { labels: { app: 'busy' }, annotations },
          spec: { containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu: '300m' } } }] },
        },
      },
    });
    assert.equal(made.status, 201, made.text);
    const scaler = await admin.post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      metadata: { name: 'busy' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    });
    assert.equal(scaler.status, 201, scaler.text);
    const one = await eventually(async () => {
      const { body } = await admin.get(`${metrics}/namespaces/default/pods/${used.metadata.name}`);
      return body.containers?.[0].usage.memory === '64Mi' && body;
    }, 'the measurement of a pod');
    assert.equal(one.kind, 'PodMetrics');
    assert.equal(one.metadata.labels.app, 'web');
    assert.match(one.window, /^[\d.]+m?s$/);
    assert.ok(Date.parse(one.timestamp) > 0);
    const list = (await admin.get(`${metrics}/namespaces/default/pods?labelSelector=app=web`)).body;
    assert.equal(list.kind, 'PodMetricsList');
    assert.equal(list.items.length, 4);
    assert.deepEqual((await admin.get(`${metrics}/namespaces/kube-system/pods`)).body.items, []);
    assert.equal((await admin.get(`${metrics}/namespaces/default/pods/none`)).status, 404);
    assert.equal((await admin.get(`${metrics}/namespaces/kube-system/pods/${used.metadata.name}`)).status, 404);
    const nodes = (await admin.get(`${metrics}/nodes`)).body.items;
    assert.deepEqual(
      nodes.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['sim-0', 'sim-1'],
    );
    assert.equal((await admin.post(`${metrics}/nodes`, { metadata: { name: 'x' } })).status, 405);
    await eventually(async () => {
      const { body } = await admin.get('/apis/apps/v1/namespaces/default/deployments/busy');
      return body.spec.replicas === 3 && body.status.readyReplicas === 3;
    }, 'as many replicas as the load asks for');
  });

  it('shows their logs, over connections that both sides check', async () => {
    const [pod] = (await admin.get(pods)).body.items;
    const { status, text } = await admin.get(`${pods}/${pod.metadata.name}/log`);
    assert.deepEqual([status, text], [200, 'This is the simulated container c of the image nginx.\n']);
    const { body: node } = await admin.get(`/api/v1/nodes/${pod.spec.nodeName}`);
    const { Port: port } = node.status.daemonEndpoints.kubeletEndpoint;
    const host = node.status.addresses[0].address;
    // Nor does the administrator's certificate open the node's pages without the server.
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

  it('fails commands that it cannot run', async () => {
    const [pod] = (await admin.get(pods)).body.items;
    const path = `${admin.url.replace('https', 'wss')}${pods}/${pod.metadata.name}/exec?command=sh&stdout=1&stderr=1`;
    const credentials = { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') };
    const socket = new WebSocket(path, ['v5.channel.k8s.io'], credentials);
    const messages: string[] = [];
    socket.on('message', (data: Buffer) => messages.push(data.toString()));
    await once(socket, 'close');
    const channel = (number: number) =>
      messages
        .filter((text) => text.charCodeAt(0) === number)
        .join('')
        .slice(1);
    assert.match(channel(2), /^This is the simulated container \S+; it cannot run sh\.\n$/);
    const { reason, details } = JSON.parse(channel(3));
    assert.deepEqual([reason, details.causes], ['NonZeroExitCode', [{ reason: 'ExitCode', message: '127' }]]);
  });

  it('lets nodes do what nodes may, and no more', async () => {
    const as = { 'impersonate-user': 'system:node:sim-0', 'impersonate-group': 'system:nodes' };
    const other = await admin.patch('/api/v1/nodes/sim-1/status', 'merge', { status: {} }, { headers: as });
    assert.equal(other.status, 403);
    assert.equal((await admin.get('/api/v1/secrets', { headers: as })).status, 403);
    assert.equal((await admin.get('/api/v1/nodes/sim-0', { headers: as })).status, 200);
  });
});
