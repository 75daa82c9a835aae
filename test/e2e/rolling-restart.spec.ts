import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import { formatKubeconfig } from '../../src/tools/cli/kubeconfig.js';
import { TcpBalancer } from '../support/tcp-balancer.js';
import { ApiClient } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const path = '/api/v1/namespaces/default/configmaps';
const writesPerSecond = 100;
const writers = 4;
const perWriter = 40;
let cluster: TestCluster;
let balancer: TcpBalancer;
let kubeconfig: string;

before(async () => {
  cluster = await TestCluster.start({ servers: 2, flags: ['--shutdown-delay-duration=4s'] });
  balancer = await TcpBalancer.start(
    cluster.servers.map(({ url }) => Number(new URL(url).port)),
    async (port) => {
      // The server on the port changes, so each check has a connection of its own.
      const client = new ApiClient(`https://127.0.0.1:${port}`, { ca: cluster.pki.authority, token: tokens.admin });
      try {
        return (await client.get('/readyz')).status === 200;
      } finally {
        client.close();
      }
    },
  );
  kubeconfig = join(cluster.directory, 'balanced');
  const server = `https://127.0.0.1:${balancer.port}`;
  writeFileSync(kubeconfig, formatKubeconfig({ server, authority: cluster.pki.authority, client: cluster.pki.admin }));
});

after(async () => {
  await balancer.stop();
  await cluster.stop();
});

/** Sends writes at an even pace until it is stopped; every response but success counts as a failure. */
class Writer {
  readonly failures: string[] = [];
  readonly last = new Map<string, string>();
  count = 0;
  private running = true;
  private readonly done: Promise<unknown>;

  constructor() {
    this.done = Promise.all(Array.from({ length: writers }, (_, id) => this.run(id)));
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.done;
  }

  private async run(id: number): Promise<void> {
    const credentials = { ca: cluster.pki.authority, token: tokens.admin };
    const client = new ApiClient(`https://127.0.0.1:${balancer.port}`, credentials);
    const began = performance.now();
    for (let i = 0; this.running; i++) {
      const due = began + (i * 1000 * writers) / writesPerSecond;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const name = `w${id}-${i % perWriter}`;
      const value = String(i);
      const answer =
        i < perWriter
          ? client.post(path, { metadata: { name }, data: { value } })
          : client.patch(`${path}/${name}`, 'merge', { data: { value } });
      await answer.then(
        ({ status, text }) => {
          if (status !== 200 && status !== 201) this.failures.push(`${name}: ${status} ${text}`);
          this.last.set(name, value);
          this.count++;
        },
        (error: Error) => this.failures.push(`${name}: ${error.message}`),
      );
    }
    client.close();
  }
}

describe('a rolling restart under writes', { timeout: 240_000 }, () => {
  it('fails no write, loses no event of informers, and ends kubectl get -w without an error', async () => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const api = config.makeApiClient(CoreV1Api);
    const informers = [1, 2, 3].map(() =>
      makeInformer<V1ConfigMap>(config, path, () => api.listNamespacedConfigMap({ namespace: 'default' })),
    );
    const faults: string[] = [];
    /** The values of each object in the order in which an informer saw them. */
    const seen = informers.map(() => new Map<string, number[]>());
    informers.forEach((informer, i) => {
      informer.on('error', (error: unknown) => faults.push(String(error)));
      const note = (object: V1ConfigMap) => {
        const name = object.metadata?.name ?? '';
        if (!name.startsWith('w')) return;
        const values = seen[i]?.get(name) ?? [];
        values.push(Number(object.data?.value));
        seen[i]?.set(name, values);
      };
      informer.on('add', note);
      informer.on('update', note);
    });
    for (const informer of informers) await informer.start();

    const kubectl = new Kubectl(kubeconfig);
    const ends: { code: number | null; lines: number; errors: string }[] = [];
    let watching = true;
    let current: ReturnType<Kubectl['start']> | undefined;
    const kubectlLoop = (async () => {
      while (watching) {
        const child = kubectl.start(['get', 'configmaps', '-w', '--no-headers'], 'pipe');
        current = child;
        let lines = 0;
        let errors = '';
        child.stdout?.on('data', (chunk: Buffer) => {
          lines += chunk.toString().split('\n').length - 1;
        });
        child.stderr?.on('data', (chunk: Buffer) => {
          errors += chunk.toString();
        });
        const [code] = await once(child, 'close');
        if (watching) ends.push({ code, lines, errors });
      }
    })();

    const writer = new Writer();
    await eventually(() => writer.count > writers * perWriter, 'all objects to be made');
    for (let round = 0; round < 2; round++) {
      for (const server of [...cluster.servers]) {
        const port = Number(new URL(server.url).port);
        await cluster.restartServer(server);
        assert.equal(server.process.exitCode, 0);
        const before = writer.count;
        await eventually(() => balancer.readyPorts.includes(port), 'the balancer to see it');
        await eventually(() => writer.count > before + 20, 'writes to go on');
      }
    }
    await writer.stop();
    watching = false;
    current?.kill();
    await kubectlLoop;

    assert.deepEqual(writer.failures, []);
    for (const [i, informer] of informers.entries()) {
      await eventually(() => {
        const values = new Map(informer.list('default').map((o) => [o.metadata?.name ?? '', o.data?.value]));
        return [...writer.last].every(([name, value]) => values.get(name) === value);
      }, `informer ${i} to show what was written last`);
      await informer.stop();
      for (const [name, values] of seen[i] ?? []) {
        const rising = values.every((value, k) => k === 0 || value >= (values[k - 1] as number));
        assert.ok(rising, `${name} went back: ${values.join(' ')}`);
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(ends.length >= 2, 'both servers were watched');
    for (const { code, lines, errors } of ends) {
      assert.equal(errors, '');
      assert.equal(code, 0);
      assert.ok(lines > 0);
    }
  });
});
