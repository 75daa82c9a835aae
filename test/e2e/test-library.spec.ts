import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { isAlive } from '../../src/tools/local-postgres/embedded/postmaster.js';
import type {
  Access,
  startCluster as startClusterType,
  TestCluster,
} from '../../src/tools/test-clusters/library/index.js';
import { endWithUs } from '../support/child-guard.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';

/** As it is in the package. */
const library = new URL('../../testing/index.js', import.meta.url).href;
const { startCluster } = (await import(library)) as { startCluster: typeof startClusterType };
const configMaps = '/api/v1/namespaces/default/configmaps';

function widgets(type: string) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { size: { type } } },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      ],
    },
  };
}

const widget = (size: unknown) => ({
  apiVersion: 'example.org/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec: { size },
  status: { phase: 'Ready' },
});

/** The events of a watch, in order. */
class Watch {
  readonly events: { type: string; object: { code?: number; metadata: { name: string; resourceVersion: string } } }[] =
    [];
  readonly ended: Promise<void>;

  constructor(access: Access, path: string) {
    const { server, caData } = access.settings.clusters[0] as { server: string; caData: string };
    const { certData = '', keyData = '' } = access.settings.users[0] ?? {};
    const pem = (data: string) => Buffer.from(data, 'base64').toString('utf8');
    this.ended = new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, server),
        { ca: pem(caData), cert: pem(certData), key: pem(keyData), agent: false },
        async (response) => {
          let rest = '';
          for await (const chunk of response) {
            const lines = (rest + String(chunk)).split('\n');
            rest = lines.pop() ?? '';
            for (const line of lines) this.events.push(JSON.parse(line));
          }
          resolve();
        },
      );
      sent.on('error', reject);
      sent.end();
    });
    this.ended.catch(() => undefined);
  }

  async until(condition: () => boolean): Promise<void> {
    await until(async () => condition());
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 120_000; !(await condition()); await delay(10)) {
    assert.ok(performance.now() < deadline, 'it never happened');
  }
}

describe('the library for tests', { skip: process.platform === 'win32', timeout: 180_000 }, () => {
  let postgres: TestPostgres;
  let cluster: TestCluster;

  before(async () => {
    // The shared one has tests of its own.
    postgres = await startTestPostgres();
    cluster = await startCluster({
      databaseUrl: postgres.adminUrl,
      featureGates: { WatchList: true },
      fixtures: [widgets('string'), widget('small')],
    });
  });
  beforeEach(() => cluster.reset());
  after(async () => {
    await cluster?.stop();
    await postgres?.stop();
  });

  it('lets clients in by kubeconfig, as a text, as a file and as settings', async () => {
    for (const load of [
      (config: KubeConfig) => cluster.loadInto(config),
      (config: KubeConfig) => config.loadFromFile(cluster.kubeconfigFile),
      (config: KubeConfig) => config.loadFromOptions(cluster.settings),
    ]) {
      const config = new KubeConfig();
      load(config);
      const { items } = await config.makeApiClient(CoreV1Api).listNamespace();
      assert.deepEqual(
        items.map(({ metadata }) => metadata?.name),
        ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
      );
    }
  });

  it('knows other users by certificates, and service accounts by tokens', async () => {
    const whoAmI = async (access: Access) => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const { status } = await access.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
      return [status.userInfo.username, ...status.userInfo.groups];
    };
    const alice = await cluster.kubeconfigFor({ user: 'alice', groups: ['devs', 'ops'] });
    assert.deepEqual(await whoAmI(alice), ['alice', 'devs', 'ops', 'system:authenticated']);
    await cluster.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } });
    const robot = await cluster.kubeconfigFor({ serviceAccount: 'robot' });
    assert.equal((await whoAmI(robot))[0], 'system:serviceaccount:default:robot');
    await cluster.reset();
    assert.deepEqual((await whoAmI(alice))[0], 'alice');
    await assert.rejects(whoAmI(robot), { status: 401 });
  });

  it('returns to the fixtures of the start, also for what the server derives from objects', async () => {
    const alice = await cluster.kubeconfigFor({ user: 'alice' });
    await assert.rejects(alice.request('GET', configMaps), { status: 403 });
    await cluster.request('DELETE', '/apis/example.org/v1/namespaces/default/widgets/w');
    await cluster.apply(`
      apiVersion: v1
      kind: Namespace
      metadata: { name: other }
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata: { name: c, namespace: other }
      data: { a: b }
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata: { name: everybody }
      roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }
      subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: system:authenticated }]
    `);
    await until(() =>
      alice.request('GET', configMaps).then(
        () => true,
        () => false,
      ),
    );
    await cluster.reset();
    const { spec, status } = await cluster.request('GET', '/apis/example.org/v1/namespaces/default/widgets/w');
    assert.deepEqual({ spec, status }, { spec: { size: 'small' }, status: { phase: 'Ready' } });
    await assert.rejects(cluster.request('GET', '/api/v1/namespaces/other'), { status: 404 });
    await assert.rejects(cluster.request('POST', '/api/v1/namespaces/other/configmaps', { metadata: { name: 'x' } }), {
      status: 404,
    });
    await assert.rejects(alice.request('GET', configMaps), { status: 403 });
  });

  it('serves a definition anew with another schema after a reset', async () => {
    for (const [type, right, wrong] of [
      ['integer', 3, 'three'],
      ['boolean', true, 3],
    ] as const) {
      const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org';
      await cluster.request('DELETE', definition);
      await until(async () => {
        const gone = await cluster.request('GET', definition).catch((error) => error);
        return gone.status === 404;
      });
      await cluster.apply(widgets(type), widget(right));
      await assert.rejects(cluster.apply(widget(wrong)), /Widget w of the given object: /);
      await cluster.reset();
      await cluster.apply(widget('large'));
      await assert.rejects(cluster.apply(widget(right)), /Widget w of the given object: /);
      await cluster.reset();
    }
  });

  it('shows watches what a reset does, under versions that only rise', async () => {
    const { items, metadata } = await cluster.request('GET', configMaps);
    assert.deepEqual(items, []);
    const watches = Array.from(
      { length: 10 },
      () => new Watch(cluster.admin, `${configMaps}?watch=true&resourceVersion=${metadata.resourceVersion}`),
    );
    await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
    await cluster.reset();
    await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } });
    for (const watch of watches) {
      await watch.until(() => watch.events.length === 3);
      assert.deepEqual(
        watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`),
        ['ADDED a', 'DELETED a', 'ADDED b'],
      );
      const versions = watch.events.map(({ object }) => BigInt(object.metadata.resourceVersion));
      assert.deepEqual(
        versions,
        versions.toSorted((x, y) => (x < y ? -1 : 1)),
      );
    }
    await cluster.reset({ endWatches: true });
    for (const watch of watches) {
      await watch.ended;
      assert.equal(watch.events.at(-1)?.object.code, 410);
    }
    const path = `${configMaps}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const late = new Watch(cluster.admin, path);
    await late.ended;
    assert.equal(late.events[0]?.object.code, 410);
    const again = await cluster.request('GET', configMaps);
    assert.ok(BigInt(again.metadata.resourceVersion) > BigInt(metadata.resourceVersion));
  });

  it('lets each write come before or after a reset that comes in between', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `during-${at}`);
    const writes = names.map((name) => cluster.request('POST', configMaps, { metadata: { name } }));
    await Promise.all([cluster.reset(), ...writes]);
    const left = await cluster.request('GET', configMaps);
    assert.ok(left.items.length <= names.length);
    await cluster.reset();
    assert.deepEqual((await cluster.request('GET', configMaps)).items, []);
    // Every name can be taken again: nothing of them stayed anywhere.
    await Promise.all(names.map((name) => cluster.request('POST', configMaps, { metadata: { name } })));
  });

  it('says what is wrong with fixtures, flags and ports', async () => {
    const odd = { apiVersion: 'example.org/v1', kind: 'Gadget', metadata: { name: 'g' } };
    await assert.rejects(cluster.apply(odd), /Gadget g of the given object: the server knows no kind Gadget/);
    await assert.rejects(cluster.apply('a: [1'), /the given text is not YAML/);
    await assert.rejects(cluster.apply('no/such/file.yaml'), /no such file .*no\/such\/file\.yaml/);
    await assert.rejects(cluster.apply('no/such/folder'), /no such file .*no\/such\/folder/);
    await assert.rejects(cluster.apply('file:///no/such/folder'), /no such file .*'\/no\/such\/folder'/);
    const databaseUrl = postgres.adminUrl;
    const misspelt = { databaseUrl, fixture: [] };
    await assert.rejects(startCluster(misspelt), /there is no option fixture$/);
    await assert.rejects(startCluster({ databaseUrl, flags: { 'autorization-mode': 'RBAC' } }), /did you mean/);
    await assert.rejects(startCluster({ databaseUrl, port: cluster.port }), /already listens on 127\.0\.0\.1:\d+/);
    await assert.rejects(startCluster({ databaseUrl: 'postgresql://127.0.0.1:1/x' }), /no database can be made/);
  });

  it('takes fixtures from files, and from folders by any way to name them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth library-'));
    try {
      const map = (name: string) => `apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: ${name}}\r\n`;
      await writeFile(join(folder, 'two.yml'), `# none\n---\n---\n${map('first')}---\n${map('second')}...\n`);
      await writeFile(join(folder, 'mark.yaml'), `\ufeff${map('third')}`);
      await writeFile(join(folder, 'notes.txt'), 'a: [');
      const url = pathToFileURL(folder);
      for (const name of [folder, `${folder}/`, url, url.href]) {
        await cluster.reset();
        const applied = await cluster.apply(name);
        assert.deepEqual(
          applied.map((object) => (object as { metadata: { name: string } }).metadata.name),
          ['third', 'first', 'second'],
        );
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('ends with the process that started it, also when that is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth library-'));
    try {
      await writeFile(
        join(folder, 'test.mjs'),
        `import { startCluster } from ${JSON.stringify(library)};
         const { pid, kubeconfigFile } = await startCluster({ databaseUrl: ${JSON.stringify(postgres.adminUrl)} });
         process.stdout.write(JSON.stringify({ pid, kubeconfigFile }));
         setInterval(() => {}, 1000);`,
      );
      const home = join(folder, 'home');
      await mkdir(home);
      await chmod(home, 0o500);
      const child = spawn(process.execPath, [join(folder, 'test.mjs')], {
        env: { ...process.env, HOME: home, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      endWithUs(child);
      const [text] = await once(child.stdout, 'data');
      const { pid, kubeconfigFile } = JSON.parse(String(text));
      assert.ok(isAlive(pid));
      assert.match(await readFile(kubeconfigFile, 'utf8'), /127\.0\.0\.1/);
      child.kill('SIGKILL');
      await until(async () => !isAlive(pid));
      await until(async () => !existsSync(kubeconfigFile));
      assert.deepEqual(
        (await readdir(folder)).filter((name) => name.startsWith('plinth-test-')),
        [],
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
