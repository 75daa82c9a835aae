import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { expireHistory } from '../e2e/support/expire-history.js';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';

/*
 * An informer of the Java client over a real cluster. Needs a JDK (17 or newer) and Maven, so it is not a part of `npm test`.
 */

const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const project = fileURLToPath(new URL('../../../test/java-client/pom.xml', import.meta.url));

let output: string;
let cluster: TestCluster;

before(async () => {
  output = mkdtempSync(join(tmpdir(), 'plinth-java-'));
  const goals = ['compile', 'dependency:copy-dependencies'];
  const built = spawnSync('mvn', ['-q', '-B', '-f', project, `-Dcheck.output=${output}`, ...goals], {
    stdio: 'inherit',
  });
  assert.equal(built.status, 0, 'Maven could not build the client; are mvn and a JDK installed?');
  cluster = await TestCluster.start({ servers: 2 });
});

after(async () => {
  await cluster?.stop();
  rmSync(output, { recursive: true, force: true });
});

/** The informer in a process of its own. */
class JavaInformer {
  private readonly lines: AsyncIterator<string>;

  private constructor(private readonly child: ChildProcess) {
    const { stdout } = child;
    assert.ok(stdout);
    this.lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  static async start(kubeconfig: string): Promise<JavaInformer> {
    const classes = [join(output, 'classes'), join(output, 'dependency', '*')].join(':');
    const child = spawn('java', ['-cp', classes, 'check.InformerCheck', kubeconfig, namespace], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endWithUs(child);
    const informer = new JavaInformer(child);
    assert.equal(await informer.line(), 'synced');
    return informer;
  }

  /** What it knows: versions by name. */
  async objects(): Promise<Map<string, string>> {
    const [, , , ...known] = (await this.ask()).split(' ');
    return new Map(known.map((pair) => pair.split('=') as [string, string]));
  }

  /** Notifications so far. */
  async counts(): Promise<{ added: number; updated: number; deleted: number }> {
    const [added = 0, updated = 0, deleted = 0] = (await this.ask()).split(' ').slice(0, 3).map(Number);
    return { added, updated, deleted };
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }

  private ask(): Promise<string> {
    this.child.stdin?.write('\n');
    return this.line();
  }

  private async line(): Promise<string> {
    const { value, done } = await this.lines.next();
    assert.notEqual(done, true, 'the Java process ended');
    return String(value);
  }
}

async function stored(): Promise<Map<string, string>> {
  const { body } = await cluster.second.client.get(path);
  return new Map(
    body.items.map(({ metadata }: { metadata: { name: string; resourceVersion: string } }) => [
      metadata.name,
      metadata.resourceVersion,
    ]),
  );
}

async function inStep(informer: JavaInformer): Promise<void> {
  const expected = await stored();
  await eventually(
    async () => isDeepStrictEqual(await informer.objects(), expected),
    'the informer knows what is stored',
    60_000,
  );
}

async function write(rounds: number, prefix: string): Promise<void> {
  const { client } = cluster.second;
  for (let i = 0; i < rounds; i++) {
    const name = `${prefix}${i % 37}`;
    if (i % 5 === 4) await client.delete(`${path}/${name}`);
    const created = await client.post(path, { metadata: { name }, data: { value: String(i) } });
    if (created.status !== 201) await client.patch(`${path}/${name}`, 'merge', { data: { value: String(i) } });
  }
}

describe('an informer of the Java client', () => {
  it('begins with what is stored and follows every change', async () => {
    await write(50, 'before');
    const informer = await JavaInformer.start(cluster.first.kubeconfig);
    try {
      await inStep(informer);
      const { added, updated, deleted } = await informer.counts();
      const { client } = cluster.second;
      for (let i = 0; i < 100; i++) {
        const created = await client.post(path, { metadata: { name: `counted${i}` } });
        assert.equal(created.status, 201);
        assert.equal((await client.patch(`${path}/counted${i}`, 'merge', { data: { a: 'b' } })).status, 200);
        assert.equal((await client.delete(`${path}/counted${i}`)).status, 200);
      }
      const all = { added: added + 100, updated: updated + 100, deleted: deleted + 100 };
      await eventually(
        async () => isDeepStrictEqual(await informer.counts(), all),
        'every change is notified once',
        60_000,
      );
      await inStep(informer);
    } finally {
      informer.stop();
    }
  });

  it('stays in step when its server restarts and when its version is too old afterwards', async () => {
    const informer = await JavaInformer.start(cluster.first.kubeconfig);
    try {
      const writing = write(200, 'restart');
      const restarted = await cluster.restartServer(cluster.first);
      await writing;
      await inStep(informer);

      const port = Number(new URL(restarted.url).port);
      cluster.servers.splice(cluster.servers.indexOf(restarted), 1);
      await restarted.stop();
      const { body } = await cluster.first.client.post(path, { metadata: { name: 'meanwhile' } });
      assert.equal(body.metadata.name, 'meanwhile');
      await expireHistory(cluster.databaseUrl);
      await cluster.addServer(port);
      await eventually(async () => (await informer.objects()).has('meanwhile'), 'the informer lists again', 60_000);
      cluster.servers.reverse();
    } finally {
      informer.stop();
    }
  });
});
