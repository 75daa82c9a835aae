import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { parse } from 'yaml';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

// Forms that a process caches for lists do not change any response: another process that caches nothing answers the
// same.

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const partial = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const protobuf = 'application/vnd.kubernetes.protobuf';
const cbor = 'application/cbor';
const whole = [protobuf, cbor];
const forms = [table, ...whole, ...['application/json', ...whole].map((type) => type + partial), 'application/json'];
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let cluster: TestCluster;
let keeping: TestServer;
let plain: TestServer;

before(async () => {
  cluster = await TestCluster.start({
    servers: 1,
    controllers: true,
    accounts: false,
    flags: ['--authorization-mode=RBAC', '--feature-gates=CBORServingAndStorage=true'],
  });
  keeping = cluster.first;
  plain = await cluster.addServer(undefined, ['--watch-cache=false']);
});

after(() => cluster.stop());

async function shown({ client }: TestServer, path: string, accept: string, token?: string): Promise<string> {
  const { status, text } = await client.get(path, { headers: { accept }, token });
  assert.equal(status, 200, text);
  // The version of a list, also in its continue token, changes with other writes, and ages with time.
  return text
    .replace(/"metadata":\{"resourceVersion":"\d+"[^{}]*\},"(items|rows|columnDefinitions)"/, '"$1"')
    .replace(/"(?:\d+m)?\d+[sm]"/g, '"age"');
}

/** Compares the items only: in protobuf and CBOR the version of the list comes first. */
async function same(path: string, accept: string, token?: string): Promise<void> {
  const isBinary = whole.some((type) => accept.startsWith(type));
  const items = (text: string) => (isBinary ? text.slice(text.indexOf('item-')) : text);
  // Control loops may write between the two answers.
  await eventually(
    async () =>
      items(await shown(keeping, path, accept, token)) === items(await shown(plain, path, accept, token)) &&
      items(await shown(keeping, path, accept, token)) === items(await shown(plain, path, accept, token)),
    `${path} as ${accept} to be the same`,
    30_000,
  );
}

async function made(path: string, body: unknown): Promise<void> {
  const { status, text } = await keeping.client.post(path, body);
  assert.equal(status, 201, text);
}

const pod = (name: string, image: string) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image }] },
});

it('lists show each object as it is, whatever was kept of it', { timeout: 120_000 }, async () => {
  const pods = '/api/v1/namespaces/default/pods';
  for (let i = 0; i < 8; i++) await made(pods, pod(`item-${i}`, 'one'));
  const all = () => Promise.all(forms.map((accept) => same(pods, accept)));
  await all();
  const { text } = await keeping.client.get('/metrics');
  assert.ok(Number(/^plinth_watch_cache_form_bytes (\d+)$/m.exec(text)?.[1]) > 0, 'forms are kept');
  const image = { spec: { containers: [{ name: 'c', image: 'two' }] } };
  assert.equal((await plain.client.patch(`${pods}/item-3`, 'strategic-merge', image)).status, 200);
  assert.equal((await plain.client.delete(`${pods}/item-4?gracePeriodSeconds=0`)).status, 200);
  assert.equal((await plain.client.delete(`${pods}/item-5?gracePeriodSeconds=0`)).status, 200);
  await made(pods, pod('item-5', 'three'));
  await all();
  for (const accept of [table, ...whole]) {
    for (const query of ['includeObject=None', 'includeObject=Object', 'limit=3', 'fieldSelector=metadata.name=item-3'])
      await same(`${pods}?${query}`, accept);
  }
  // Only the objects that a user may see, although the forms of all are cached.
  assert.equal((await keeping.client.get('/api/v1/pods', { token: tokens.bob })).status, 403);
});

it('tables of a custom resource have its present columns, each version its own', { timeout: 120_000 }, async () => {
  const version = (name: string, jsonPath: string) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    additionalPrinterColumns: [{ name: 'Shown', type: 'string', jsonPath }],
  });
  const definition = (first: string) => ({
    metadata: { name: 'keepers.kept.example.com' },
    spec: {
      group: 'kept.example.com',
      scope: 'Namespaced',
      names: { plural: 'keepers', singular: 'keeper', kind: 'Keeper', listKind: 'KeeperList' },
      versions: [version('v1', first), version('v2', '.c')],
    },
  });
  await made(definitions, definition('.a'));
  const path = (name: string) => `/apis/kept.example.com/${name}/namespaces/default/keepers`;
  for (const { client } of [keeping, plain])
    await eventually(async () => (await client.get(path('v2'))).status === 200, 'the kind', 30_000);
  const object = {
    apiVersion: 'kept.example.com/v1',
    kind: 'Keeper',
    metadata: { name: 'item-0' },
    a: 'A',
    b: 'B',
    c: 'C',
  };
  await made(path('v1'), object);
  const cell = async (name: string) => {
    const { body } = await keeping.client.get(path(name), { headers: { accept: table } });
    return body.rows[0].cells[1];
  };
  for (let i = 0; i < 2; i++) {
    assert.equal(await cell('v1'), 'A');
    assert.equal(await cell('v2'), 'C');
  }
  // Objects of custom resources contain their kind in lists as well: clients without types know it from nowhere else.
  for (const name of ['v1', 'v2']) {
    for (const [query, accept] of [
      ['', 'application/json'],
      ['?pretty=true', 'application/json'],
      ['', 'application/yaml'],
    ] as const) {
      const { text } = await keeping.client.get(`${path(name)}${query}`, { headers: { accept } });
      const { items } = parse(text) as { items: Record<string, unknown>[] };
      const [item] = items;
      assert.deepEqual([item?.kind, item?.apiVersion, item?.c], ['Keeper', `kept.example.com/${name}`, 'C'], text);
    }
  }
  const changed = { spec: { versions: definition('.b').spec.versions } };
  assert.equal((await keeping.client.patch(`${definitions}/keepers.kept.example.com`, 'merge', changed)).status, 200);
  await eventually(async () => (await cell('v1')) === 'B', 'the new column', 30_000);
  assert.equal(await cell('v2'), 'C');
  for (const name of ['v1', 'v2'])
    for (const accept of [table, `application/json${partial}`]) await same(path(name), accept);
});
