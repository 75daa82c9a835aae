import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { cleanForCreate } from '../../src/tools/backup/recreate/clean-for-create.js';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, objectsPath } from './support/custom-definitions.js';
import { ok } from './support/listing.js';
import { type ProgramEnd, runProgram, startProgram } from './support/program.js';
import { eventually, TestCluster } from './support/test-cluster.js';

// A backup of one cluster is imported into another one. Both have a server and the control loops.

let from: TestCluster;
let to: TestCluster;
let backup: string;

const owners = customDefinition({ plural: 'owners', kind: 'Owner', group: 'import.example' }, [
  { name: 'v1', subresources: { status: {} } },
]);
const shop = '/api/v1/namespaces/shop';
const exact =
  '{"apiVersion":"import.example/v1","kind":"Owner","metadata":{"name":"exact"},"spec":{"m":9007199254740993,"n":1.0}}';

async function make(client: ApiClient, path: string, body: object): Promise<ApiObject> {
  const made = await client.post(path, body);
  assert.equal(made.status, 201, `${path}: ${made.text}`);
  return made.body;
}

/** What fills the first cluster: kinds that depend on each other in all ways that an import has to respect. */
async function fill(client: ApiClient): Promise<void> {
  await make(client, '/api/v1/namespaces', { metadata: { name: 'shop', labels: { team: 'a' } } });
  await define(owners, [client]);
  const path = objectsPath(owners).replace('default', 'shop');
  assert.equal((await client.send('POST', path, { raw: exact })).status, 201);
  const owner = await make(client, path, { ...body('Owner', 'owner'), spec: { a: 1 } });
  await client.put(`${path}/owner/status`, { ...owner, status: { ready: 3 } });
  const child = await make(client, path, { ...body('Owner', 'a-child', owner), spec: {} });
  await make(client, `${shop}/configmaps`, {
    metadata: { generateName: 'made-', ownerReferences: [reference(child)] },
    data: { a: 'b' },
  });
  await make(client, `${shop}/configmaps`, {
    metadata: { name: 'kept', finalizers: ['example.com/keep'], annotations: { n: 'x' } },
    binaryData: { b: 'AAEC' },
  });
  await make(client, `${shop}/secrets`, {
    metadata: { name: 'password' },
    stringData: { p: 'hunter2' },
    immutable: true,
  });
  await make(client, `${shop}/services`, {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, type: 'NodePort', ports: [{ port: 80 }] },
  });
  await make(client, `${shop}/services`, {
    metadata: { name: 'none' },
    spec: { clusterIP: 'None', ports: [{ port: 1 }] },
  });
  await make(client, '/apis/apps/v1/namespaces/shop/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await make(client, '/api/v1/persistentvolumes', {
    metadata: { name: 'disk' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/x' },
      storageClassName: 'hand',
      claimRef: { namespace: 'shop', name: 'data' },
    },
  });
  await make(client, `${shop}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'hand',
      volumeName: 'disk',
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await make(client, `${shop}/resourcequotas`, { metadata: { name: 'few' }, spec: { hard: { configmaps: '3' } } });
  await make(client, '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'nobody' },
    webhooks: [
      {
        name: 'nobody.example.com',
        clientConfig: { service: { namespace: 'shop', name: 'web' } },
        rules: [{ apiGroups: ['import.example'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  await client.patch(`${shop}/serviceaccounts/default`, 'merge', { imagePullSecrets: [{ name: 'password' }] });
}

function body(kind: string, name: string, owner?: ApiObject) {
  const ownerReferences = owner === undefined ? {} : { ownerReferences: [reference(owner)] };
  return { apiVersion: 'import.example/v1', kind, metadata: { name, ...ownerReferences } };
}

function reference({ apiVersion, kind, metadata }: ApiObject) {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

before(async () => {
  [from, to] = await Promise.all([
    TestCluster.start({ servers: 1, controllers: true }),
    TestCluster.start({ servers: 1, controllers: true }),
  ]);
  await fill(from.first.client);
  await eventually(async () => {
    const { items } = await ok(from.first.client, `${shop}/pods`);
    const claim = await ok(from.first.client, `${shop}/persistentvolumeclaims/data`);
    return items.length === 2 && claim.status.phase === 'Bound';
  }, 'the workload and the volume of the first cluster');
  backup = join(from.directory, 'cluster.backup');
  const made = await runProgram('backup', '--kubeconfig', from.first.kubeconfig, '-o', backup);
  assert.equal(made.code, 0, made.stderr);
});
after(() => Promise.all([from?.stop(), to?.stop()]));

const bring = (...args: string[]) => runProgram('import', '--kubeconfig', to.first.kubeconfig, ...args);
const done = (end: ProgramEnd, code = 0) => {
  assert.equal(end.code, code, `${end.stdout}\n${end.stderr}`);
  return end;
};

/** Objects without the fields that differ between two clusters, by name. */
async function comparable(client: ApiClient, path: string, names: readonly string[]): Promise<object[]> {
  const { items, apiVersion, kind } = await ok(client, path);
  return items
    .filter(({ metadata }: ApiObject) => names.some((name) => metadata.name?.startsWith(name)))
    .map((item: ApiObject) => {
      // In lists of most kinds, objects don't contain their kind.
      const typed = { ...item, apiVersion, kind: kind.replace(/List$/, '') };
      const object = cleanForCreate(typed, { hasVolume: () => true });
      for (const owner of object.metadata.ownerReferences ?? []) owner.uid = '';
      return object;
    });
}

describe('plinth import', () => {
  it('refuses a damaged backup before anything is written', async () => {
    const bytes = await readFile(backup);
    const damaged = join(from.directory, 'damaged.backup');
    for (const at of [bytes.length - 20, Math.floor(bytes.length / 2), 40]) {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 4;
      await writeFile(damaged, copy);
      const refused = done(await bring(damaged), 1);
      assert.match(refused.stderr, /damaged\.backup (is|was|has) .*(damaged|cut off|backup)/);
    }
    assert.equal((await to.first.client.get(shop)).status, 404);
  });

  it('plans without writing, and has the server try what it can', async () => {
    const tried = done(await bring(backup, '--dry-run', '-o', 'json'));
    const { plan, result } = JSON.parse(tried.stdout);
    assert.equal(result, undefined);
    const kind = (name: string) => plan.kinds.find(({ resource }: { resource: string }) => resource === name);
    assert.equal(kind('namespaces').created, 1);
    assert.equal(kind('owners.import.example').created, 3);
    assert.equal(kind('pods').created, 0);
    assert.equal(kind('pods').leftOut, 2);
    assert.equal((await to.first.client.get(shop)).status, 404);
  });

  it('brings everything, as it was but for what must differ', async () => {
    const { stdout } = done(await bring(backup));
    assert.match(stdout, /pods shop\/web-\S+, shop\/web-\S+: is made anew by its workload/);
    const [a, b] = [from.first.client, to.first.client];
    // The binding writes to the claim.
    await eventually(async () => {
      const pods: ApiObject[] = (await ok(b, `${shop}/pods`)).items;
      const claim = await ok(b, `${shop}/persistentvolumeclaims/data`);
      return pods.length === 2 && claim.status.phase === 'Bound';
    }, 'the workload and the volume');
    const path = '/apis/import.example/v1/namespaces/shop/owners';
    for (const [collection, names] of [
      [path, ['']],
      [`${shop}/configmaps`, ['made-', 'kept']],
      [`${shop}/secrets`, ['password']],
      [`${shop}/services`, ['']],
      [`${shop}/persistentvolumeclaims`, ['']],
      ['/api/v1/persistentvolumes', ['disk']],
      [`${shop}/resourcequotas`, ['']],
      [`${shop}/serviceaccounts`, ['']],
      ['/api/v1/namespaces', ['shop']],
      ['/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', ['nobody']],
    ] as const) {
      const expected = await comparable(a, collection, names);
      assert.ok(expected.length > 0, collection);
      assert.deepEqual(await comparable(b, collection, names), expected, collection);
    }
    assert.match((await b.get(`${path}/exact`)).text, /"m":9007199254740993,"n":1\b/);
    // The owners are those of this cluster, and nothing was collected as garbage.
    const { items } = await ok(b, path);
    const uidOf = (name: string) => items.find(({ metadata }: ApiObject) => metadata.name === name).metadata.uid;
    const child = await ok(b, `${path}/a-child`);
    assert.equal(child.metadata.ownerReferences[0].uid, uidOf('owner'));
    const maps: ApiObject[] = (await ok(b, `${shop}/configmaps`)).items;
    const map = maps.find(({ metadata }) => metadata.name?.startsWith('made-'));
    assert.equal(map?.metadata.ownerReferences?.[0]?.uid, uidOf('a-child'));
  });

  it('makes nothing twice, updates on demand, and refuses if it is to', async () => {
    const { client } = to.first;
    const again = JSON.parse(done(await bring(backup, '-o', 'json')).stdout);
    for (const { resource, created, failed } of again.result.kinds) assert.equal(created + failed, 0, resource);

    await client.patch(`${shop}/configmaps/kept`, 'merge', { data: { changed: '1' } });
    await client.patch(`${shop}/services/web`, 'merge', { spec: { selector: { app: 'other' } } });
    const { spec: before } = await ok(client, `${shop}/services/web`);
    done(await bring(backup, '--include', 'configmaps,services', '--namespace', 'shop', '--existing', 'update'));
    assert.equal((await ok(client, `${shop}/configmaps/kept`)).data, undefined);
    const { spec } = await ok(client, `${shop}/services/web`);
    assert.deepEqual(spec.selector, { app: 'web' });
    assert.deepEqual([spec.clusterIP, spec.ports], [before.clusterIP, before.ports]);

    const refused = done(await bring(backup, '--existing', 'fail'), 1);
    assert.match(refused.stderr, /objects are there already, nothing was written: /);
  });

  it('names what the server refuses, and ends with a code of its own', async () => {
    const { client } = to.first;
    await client.delete(`${shop}/secrets/password`);
    await make(client, `${shop}/resourcequotas`, { metadata: { name: 'none' }, spec: { hard: { secrets: '0' } } });
    await eventually(async () => {
      const { status } = await ok(client, `${shop}/resourcequotas/none`);
      return status.hard?.secrets === '0';
    }, 'the quota');
    const { stdout } = done(await bring(backup, '--include', 'secrets'), 3);
    assert.match(stdout, /^Failed:\n {2}secrets shop\/password: .*exceeded quota/m);
    await client.delete(`${shop}/resourcequotas/none`);
  });

  it('goes on after it was killed, with the status of all', async () => {
    const { client } = from.first;
    const hook = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/nobody';
    for (const one of [client, to.first.client]) await one.delete(hook);
    await make(client, '/api/v1/namespaces', { metadata: { name: 'many' } });
    for (let i = 0; i < 120; i++) {
      const path = '/apis/import.example/v1/namespaces/many/owners';
      const made = await make(client, path, { ...body('Owner', `o-${i}`), spec: { i } });
      await client.put(`${path}/o-${i}/status`, { ...made, status: { i } });
    }
    const path = '/apis/import.example/v1/namespaces/many/owners';
    const kubeconfig = await twoContexts();
    const flags = ['--from-kubeconfig', kubeconfig, '--from-context', 'source', '--namespace', 'many', '--with-status'];
    const first = startProgram('import', '--kubeconfig', to.first.kubeconfig, ...flags, '--parallel', '2');
    await eventually(async () => {
      const { status, body: list } = await to.first.client.get(`${path}?limit=1`);
      return status === 200 && list.items.length > 0;
    }, 'the first objects');
    first.child.kill('SIGKILL');
    await first.ended;
    const made = (await ok(to.first.client, path)).items.length;
    assert.ok(made > 0);
    const { result } = JSON.parse(done(await bring(...flags, '-o', 'json')).stdout);
    const row = result.kinds.find(({ resource }: { resource: string }) => resource === 'owners.import.example');
    assert.equal(row.created + row.existed, 120);
    // On a busy machine it may have completed before it was killed.
    assert.ok(row.existed >= made, JSON.stringify(row));
    const items: ApiObject[] = (await ok(to.first.client, path)).items;
    assert.equal(items.length, 120);
    for (const { status, spec } of items) assert.deepEqual(status, { i: (spec as { i: number }).i });
  });
});

/** A kubeconfig whose current context does not work, and one that is the first cluster. */
async function twoContexts(): Promise<string> {
  const path = join(from.directory, 'contexts');
  const text = (await readFile(from.first.kubeconfig, 'utf8')).replaceAll('admin@plinth', 'source');
  await writeFile(path, text.replace('current-context: source', 'current-context: absent'), { mode: 0o600 });
  return path;
}
