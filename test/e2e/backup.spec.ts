import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { fixedAccess } from '../../src/base/outgoing/api-access.js';
import { ClusterClient } from '../../src/tools/backup/cluster/cluster-client.js';
import { type DumpSink, dump } from '../../src/tools/backup/cluster/dump.js';
import { meansKind } from '../../src/tools/backup/cluster/kind-selection.js';
import { customDefinition, define, objectsPath } from './support/custom-definitions.js';
import { expireHistory } from './support/expire-history.js';
import { ok } from './support/listing.js';
import { runProgram } from './support/program.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

// Backups of a real cluster, with two server processes.

const widgets = customDefinition({ plural: 'widgets', kind: 'Widget', group: 'backup.example' }, [{ name: 'v1' }]);
const exact =
  '{"apiVersion":"backup.example/v1","kind":"Widget","metadata":{"name":"exact"},"spec":{"m":9007199254740993,"n":1.0}}';

let cluster: TestCluster;
let files = 0;

before(async () => {
  cluster = await TestCluster.start({ servers: 2, controllers: true, flags: ['--authorization-mode=RBAC'] });
  const { client } = cluster.first;
  await define(widgets, [cluster.first.client, cluster.second.client]);
  assert.equal((await client.send('POST', objectsPath(widgets), { raw: exact })).status, 201);
  for (const name of ['one', 'two']) await client.post('/api/v1/namespaces', { metadata: { name } });
  for (let i = 0; i < 700; i++) {
    const made = await client.post('/api/v1/namespaces/one/configmaps', {
      metadata: { name: `map-${i}` },
      data: { i: String(i) },
    });
    assert.equal(made.status, 201, made.text);
  }
  await client.post('/api/v1/namespaces/two/secrets', { metadata: { name: 'password' }, stringData: { p: 'hunter2' } });
});
after(() => cluster.stop());

const newFile = () => join(cluster.directory, `${files++}.backup`);
const kubeconfig = () => ['--kubeconfig', cluster.first.kubeconfig];

/** The objects in a backup that was not sealed, and its metadata. */
async function contentOf(path: string) {
  const lines = gunzipSync(await readFile(path))
    .toString('utf8')
    .trimEnd()
    .split('\n');
  const end = lines.pop() ?? '';
  return {
    header: JSON.parse(lines[0] ?? '')[2] as { resourceVersion: string },
    objects: lines.filter((line) => line.startsWith('{')),
    end: JSON.parse(end)[1] as { notTaken: { what: string; why: string; asked: boolean }[] },
  };
}

const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as ApiObject);

describe('plinth backup', () => {
  it('holds what lists at its version show, although others write all the time', async () => {
    const { client } = cluster.second;
    let writes = 0;
    const stop = new AbortController();
    const writer = async (start: number) => {
      for (let i = start; !stop.signal.aborted; i = (i + 3) % 700) {
        const path = `/api/v1/namespaces/one/configmaps/map-${i}`;
        const answer =
          i % 7 === 0
            ? await client.delete(path)
            : await client.patch(path, 'merge', { data: { w: String(writes) }, metadata: { labels: { w: 'x' } } });
        if (answer.status === 404) {
          await client.post('/api/v1/namespaces/one/configmaps', { metadata: { name: `map-${i}` } });
        }
        writes += 1;
      }
    };
    const writers = [writer(0), writer(1), writer(2)];
    const path = newFile();
    const made = await runProgram('backup', ...kubeconfig(), '-o', path, '--json');
    stop.abort();
    await Promise.all(writers);
    assert.equal(made.code, 0, made.stderr);
    assert.ok(writes > 20, `${writes} writes`);

    const { header, objects } = await contentOf(path);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const summary = JSON.parse(made.stdout);
    assert.equal(summary.isVerified, true);
    assert.equal(summary.resourceVersion, header.resourceVersion);
    const total = summary.kinds.reduce((sum: number, kind: { objects: number }) => sum + kind.objects, 0);
    assert.equal(total, objects.length);
    assert.ok(
      objects.some((line) => line.includes('"m":9007199254740993,"n":1')),
      'numbers keep their spelling',
    );

    const found = parsed(objects);
    const query = `?resourceVersion=${header.resourceVersion}&resourceVersionMatch=Exact`;
    for (const [kind, collection] of [
      ['ConfigMap', '/api/v1/configmaps'],
      ['Secret', '/api/v1/secrets'],
      ['Namespace', '/api/v1/namespaces'],
      ['ClusterRole', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
      ['Widget', '/apis/backup.example/v1/widgets'],
      ['CustomResourceDefinition', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
    ] as const) {
      const list = await ok(cluster.second.client, `${collection}${query}`);
      const own = found.filter((object) => object.kind === kind).map(({ apiVersion, kind: _, ...rest }) => rest);
      const listed = list.items.map(({ apiVersion: _, kind: __, ...rest }: ApiObject) => rest);
      assert.ok(own.length > 0, kind);
      assert.deepEqual(own, listed, kind);
    }
    // Every kind that can be listed and created is in the backup, or the reason why not.
    assert.ok(summary.notTaken.every(({ asked }: { asked: boolean }) => asked));
    assert.deepEqual(summary.notTaken.map(({ what }: { what: string }) => what).sort(), [
      'events',
      'leases.coordination.k8s.io',
    ]);

    assert.equal((await runProgram('backup', 'verify', path)).code, 0);
    const shown = await runProgram('backup', 'show', path);
    assert.match(shown.stdout, new RegExp(`Version ${header.resourceVersion} `));
    assert.match(shown.stdout, /widgets\.backup\.example +backup\.example\/v1 +1/);
    assert.match(shown.stdout, /not verified/);
  });

  it('begins anew when its version expires, and gives up with advice', async () => {
    const tls = { ca: cluster.pki.authority, cert: undefined, key: undefined, serverName: undefined };
    const access = fixedAccess(cluster.first.url, { ...tls, insecureSkipVerify: false }, `Bearer ${tokens.admin}`);
    await expireHistory(cluster.databaseUrl);
    /** While it is on, requests an expired version in place of the given one. */
    let isLate = false;
    class LateClient extends ClusterClient {
      override list(...[path, ...more]: Parameters<ClusterClient['list']>) {
        return super.list(isLate ? path.replace(/resourceVersion=\d+/, 'resourceVersion=1') : path, ...more);
      }
    }
    const client = new LateClient(access, (ms, signal) => delay(ms, undefined, { signal }));
    const warnings: string[] = [];
    const run = async (expiries: number) => {
      let begun = 0;
      let objects: string[] = [];
      const sink: DumpSink = {
        begin: async () => {
          begun += 1;
          isLate = false;
          objects = [];
        },
        kind: async (kind) => {
          isLate = begun <= expiries && meansKind('Namespace', kind);
        },
        object: async (object) => {
          objects.push(object.toString('utf8'));
        },
      };
      const selection = { namespaces: [], include: ['namespaces', 'secrets'], exclude: [] };
      await dump({
        client,
        selection,
        sink,
        signal: AbortSignal.timeout(120_000),
        warn: (line) => warnings.push(line),
      });
      return { begun, objects };
    };
    try {
      const { begun, objects } = await run(1);
      assert.equal(begun, 2);
      assert.match(warnings[0] ?? '', /^version \d+ expired before the end; starting over$/);
      const names = parsed(objects).map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
      assert.equal(new Set(names).size, names.length, 'nothing is there twice');
      assert.ok(names.includes('Secret two password'));
      await assert.rejects(run(100), /expired before the end, 5 times; .*--watch-history/);
    } finally {
      client.close();
    }
  });

  it('seals secrets with a key, which never stand in it readable', async () => {
    const key = join(cluster.directory, 'key');
    await writeFile(key, randomBytes(32), { mode: 0o600 });
    const path = newFile();
    const made = await runProgram('backup', ...kubeconfig(), '-o', path, '--key-file', key, '--exclude', 'configmaps');
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /secrets +v1 +1 +yes/);
    const plain = gunzipSync(await readFile(path)).toString('utf8');
    assert.equal(plain.includes(Buffer.from('hunter2').toString('base64')), false);
    assert.equal(plain.includes('password'), false);
    const unopened = await runProgram('backup', 'verify', path);
    assert.match(unopened.stdout, /verified, but for the sealed objects/);
    assert.match((await runProgram('backup', 'verify', path, '--key-file', key)).stdout, /objects; verified$/m);
    const phrase = join(cluster.directory, 'phrase');
    await writeFile(phrase, 'wrong\n');
    const wrong = await runProgram('backup', 'verify', path, '--passphrase-file', phrase);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /^plinth: .*\.backup has sealed objects that can't be opened: another key/);
  });

  it('names what a reader may not list, and ends with a code of its own', async () => {
    const { client } = cluster.first;
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await client.post(`${rbac}/clusterroles`, {
      metadata: { name: 'maps' },
      rules: [{ apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['list'] }],
    });
    await client.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'maps' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maps' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
    });
    const alice = ['--server', cluster.first.url, '--certificate-authority', cluster.pki.authorityFile];
    const path = newFile();
    const made = await eventually(async () => {
      const run = await runProgram('backup', ...alice, '--token', tokens.alice, '-o', path);
      return run.code === 3 && run;
    }, 'the right');
    assert.match(made.stdout, /^ {2}secrets: secrets is forbidden: User "alice" cannot list/m);
    const { objects, end } = await contentOf(path);
    assert.deepEqual([...new Set(parsed(objects).map(({ kind }) => kind))].sort(), ['ConfigMap', 'Namespace']);
    assert.ok(end.notTaken.some(({ what, asked }) => what === 'secrets' && !asked));
    // The backup is complete if nothing else was requested.
    const some = ['--include', 'configmaps,namespaces'];
    assert.equal((await runProgram('backup', ...alice, '--token', tokens.alice, '-o', path, ...some)).code, 0);
    const none = await runProgram('backup', ...alice, '--token', tokens.bob, '-o', newFile());
    assert.equal(none.code, 1);
    assert.match(none.stderr, /nothing can be listed: .*cannot list/);
  });

  it('takes namespaces and kinds that were chosen', async () => {
    const path = newFile();
    await runProgram('backup', ...kubeconfig(), '-o', path, '--namespace', 'two');
    const two = parsed((await contentOf(path)).objects).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.ok(two.includes('Namespace two') && two.includes('Secret password'));
    assert.equal(
      two.some((name) => /ClusterRole|one|CustomResource/.test(name)),
      false,
    );
    await runProgram('backup', ...kubeconfig(), '-o', path, '--namespace', 'two', '--include', '*,crd');
    const withDefinitions = parsed((await contentOf(path)).objects).map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );
    assert.ok(withDefinitions.includes(`CustomResourceDefinition ${widgets.metadata.name}`), `${withDefinitions}`);
    assert.ok(withDefinitions.includes('Secret password'));
    assert.equal(
      withDefinitions.some((name) => /ClusterRole|Namespace one/.test(name)),
      false,
    );
    await runProgram('backup', ...kubeconfig(), '-o', path, '--include', 'Widget,crd');
    assert.deepEqual(
      parsed((await contentOf(path)).objects).map(({ kind }) => kind),
      ['CustomResourceDefinition', 'Widget'],
    );
    const wrong = await runProgram('backup', ...kubeconfig(), '-o', newFile(), '--include', 'secret.s');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /there is no kind "secret\.s" here; did you mean secrets\?/);
  });

  it('leaves the file of before when it fails, and nothing else', async () => {
    const path = newFile();
    await writeFile(path, 'of before');
    const failed = await runProgram('backup', ...kubeconfig(), '-o', path, '--include', 'nothing');
    assert.equal(failed.code, 1);
    assert.equal(await readFile(path, 'utf8'), 'of before');
    const refused = await runProgram('backup', 'verify', path);
    assert.match(refused.stderr, /is not a backup: it does not begin as one/);
    assert.deepEqual(
      (await readdir(cluster.directory)).filter((name) => name.endsWith('.part')),
      [],
    );
    const missing = await runProgram('backup', 'show', newFile());
    assert.match(missing.stderr, /can't be read: there is no such file/);
    for (const args of [
      [],
      ['verify'],
      ['other'],
      ['verify', path, path],
      ['-o', path, '--passphrase', '--key-file=k'],
    ]) {
      assert.notEqual((await runProgram('backup', ...args)).code, 0, args.join(' '));
    }
  });
});
