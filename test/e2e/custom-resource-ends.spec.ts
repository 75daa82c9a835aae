import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';
import { readAll } from './support/watching.js';

let cluster: TestCluster;
let clients: readonly ApiClient[];
let database: pg.Client;

before(async () => {
  cluster = await sharedCluster('loops');
  clients = cluster.servers.map(({ client }) => client);
  database = new pg.Client({ connectionString: cluster.databaseUrl });
  await database.connect();
});

after(async () => {
  await database?.end();
  await cluster?.stop();
});

type Properties = Readonly<Record<string, object>>;

/** A schema with these properties of the spec. */
const specOf = (properties: Properties) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});

const text = { type: 'string' };

describe('a definition that goes', () => {
  it('tells watches about the last objects before it ends them', async () => {
    const made = customDefinition({ plural: 'leaves', kind: 'Leaf' }, [{ name: 'v1' }]);
    await define(made, clients);
    const [first, second] = clients as [ApiClient, ApiClient];
    const path = objectsPath(made);
    for (let i = 0; i < 20; i++) {
      const body = { apiVersion: 'test.example/v1', kind: 'Leaf', metadata: { name: `l${i}` } };
      assert.equal((await first.post(path, body)).status, 201);
    }
    const stream = await second.watch(`${path}?watch=1`);
    await stream.take(20);
    assert.equal((await first.delete(`${definitionsPath}/leaves.test.example`)).status, 200);
    const events = await readAll(stream, 60_000);
    assert.deepEqual(
      events.map(({ type }) => type),
      Array(20).fill('DELETED'),
    );
    for (const client of clients) {
      await eventually(async () => (await client.get(`${path}?watch=1`)).status === 404, 'a 404');
      assert.equal((await client.get('/apis/test.example/v1')).status, 404);
    }
  });

  it('comes again: watches from before it get a 410, in every process', async () => {
    const made = customDefinition({ plural: 'tides', kind: 'Tide' }, [{ name: 'v1' }]);
    const [first] = clients as [ApiClient];
    const path = objectsPath(made);
    const tide = (name: string) => ({ apiVersion: 'test.example/v1', kind: 'Tide', metadata: { name } });
    const versionOf = async () => (await first.get(path)).body.metadata.resourceVersion as string;
    await define(made, clients);
    assert.equal((await first.post(path, tide('old'))).status, 201);
    const before = await versionOf();
    await undefine(made, clients);
    await define(made, clients);
    const since = await versionOf();
    assert.equal((await first.post(path, tide('new'))).status, 201);
    for (const client of clients) {
      const expired = await readAll(await client.watch(`${path}?watch=1&resourceVersion=${before}`), 60_000);
      assert.deepEqual(
        expired.map(({ type, object }) => [type, object.code, object.reason]),
        [['ERROR', 410, 'Expired']],
      );
      const stream = await client.watch(`${path}?watch=1&resourceVersion=${since}`);
      const event = await stream.next();
      assert.deepEqual([event?.type, event?.object.metadata.name], ['ADDED', 'new']);
      stream.close();
    }
    await undefine(made, clients);
  });

  it('refuses new objects with its reason while old ones are held', async () => {
    const made = customDefinition({ plural: 'stones', kind: 'Stone' }, [{ name: 'v1' }]);
    await define(made, clients);
    const [first, second] = clients as [ApiClient, ApiClient];
    const path = objectsPath(made);
    const stone = { apiVersion: 'test.example/v1', kind: 'Stone' };
    const held = { ...stone, metadata: { name: 'a', finalizers: ['test.example/hold'] } };
    assert.equal((await first.post(path, held)).status, 201);
    await first.delete(`${definitionsPath}/stones.test.example`);
    for (const client of clients) {
      const refused = await eventually(async () => {
        // A process that does not know of the end yet may create an object, which is deleted with the others.
        const answer = await client.post(path, { ...stone, metadata: { generateName: 'b' } });
        return answer.status === 405 ? answer : undefined;
      }, 'a 405');
      assert.equal(refused.body.message, 'create not allowed while custom resource definition is terminating');
    }
    assert.equal((await second.get(`${path}/a`)).status, 200);
    assert.equal((await second.patch(`${path}/a`, 'merge', { metadata: { finalizers: null } })).status, 200);
    await eventually(async () => (await second.get(path)).status === 404, 'the end of the definition');
    const { rows } = await database.query("select from plinth.objects where resource = 'stones.test.example'");
    assert.equal(rows.length, 0);
  });
});

describe('custom resources and the rest of the API', () => {
  const made = customDefinition({ plural: 'boats', kind: 'Boat', group: 'sea.example' }, [
    { name: 'v1', schema: specOf({ size: { type: 'integer' } }) },
  ]);
  const boat = (name: string, size = 1) => ({
    apiVersion: 'sea.example/v1',
    kind: 'Boat',
    metadata: { name },
    spec: { size },
  });

  before(() => define(made, clients));
  after(() => undefine(made, clients));

  it('are open to those whom rules allow', async () => {
    const [first, second] = clients as [ApiClient, ApiClient];
    const path = objectsPath(made);
    assert.equal((await second.get(path, { token: tokens.bob })).status, 403);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await first.post(`${rbac}/clusterroles`, {
      metadata: { name: 'sailor' },
      rules: [{ apiGroups: ['sea.example'], resources: ['boats'], verbs: ['get', 'list', 'create'] }],
    });
    await first.post(`${rbac}/namespaces/default/rolebindings`, {
      metadata: { name: 'bob-sails' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'sailor' },
      subjects: [{ kind: 'User', name: 'bob' }],
    });
    await eventually(async () => (await second.get(path, { token: tokens.bob })).status === 200, 'the right');
    assert.equal((await second.post(path, boat('bobs'), { token: tokens.bob })).status, 201);
    assert.equal((await second.delete(`${path}/bobs`, undefined, { token: tokens.bob })).status, 403);
  });

  it('are counted by quotas and go with their namespace', async () => {
    const [first, second] = clients as [ApiClient, ApiClient];
    assert.equal((await first.post('/api/v1/namespaces', { metadata: { name: 'harbour' } })).status, 201);
    const path = '/apis/sea.example/v1/namespaces/harbour/boats';
    const quotas = '/api/v1/namespaces/harbour/resourcequotas';
    await first.post(quotas, { metadata: { name: 'q' }, spec: { hard: { 'count/boats.sea.example': '2' } } });
    for (const client of clients) {
      await eventually(
        async () => (await client.get(`${quotas}?resourceVersion=0`)).body.items[0]?.status.hard !== undefined,
        'the quota',
      );
    }
    assert.equal((await first.post(path, boat('a'))).status, 201);
    assert.equal((await second.post(path, boat('b'))).status, 201);
    const third = await first.post(path, boat('c'));
    assert.deepEqual(
      [third.status, /exceeded quota: q, requested: count\/boats\.sea\.example=1/.test(third.text)],
      [403, true],
    );
    assert.equal((await first.delete('/api/v1/namespaces/harbour')).status, 200);
    await eventually(
      async () => (await second.get('/api/v1/namespaces/harbour')).status === 404,
      'the end of the namespace',
    );
    const { rows } = await database.query(
      "select from plinth.objects where resource = 'boats.sea.example' and namespace = 'harbour'",
    );
    assert.equal(rows.length, 0);
    // Its cache of namespaces may be a moment behind.
    await eventually(async () => (await second.post(path, boat('d'))).status === 404, 'the namespace to be unknown');
  });

  it('are judged by policies, which may have them as parameters', async () => {
    const [first, second] = clients as [ApiClient, ApiClient];
    const group = '/apis/admissionregistration.k8s.io/v1';
    const limits = customDefinition({ plural: 'limits', kind: 'Limit', group: 'sea.example', scope: 'Cluster' }, [
      { name: 'v1', schema: specOf({ most: { type: 'integer' } }) },
    ]);
    await define(limits, clients);
    await first.post(objectsPath(limits), {
      apiVersion: 'sea.example/v1',
      kind: 'Limit',
      metadata: { name: 'l' },
      spec: { most: 5 },
    });
    const policy = await first.post(`${group}/validatingadmissionpolicies`, {
      metadata: { name: 'boats' },
      spec: {
        paramKind: { apiVersion: 'sea.example/v1', kind: 'Limit' },
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['sea.example'], apiVersions: ['v1'], resources: ['boats'], operations: ['CREATE'] },
          ],
        },
        validations: [{ expression: 'object.spec.size <= params.spec.most', message: 'too long' }],
      },
    });
    assert.equal(policy.status, 201, policy.text);
    await first.post(`${group}/validatingadmissionpolicybindings`, {
      metadata: { name: 'boats' },
      spec: {
        policyName: 'boats',
        validationActions: ['Deny'],
        paramRef: { name: 'l', parameterNotFoundAction: 'Deny' },
      },
    });
    const path = objectsPath(made);
    let tries = 0;
    // The server may learn of the parameter a moment after the policy, which denies without it.
    const isTooLong = async () => {
      const { status, body } = await second.post(path, boat(`long-${tries++}`, 9));
      return status === 422 && /too long/.test(body.message);
    };
    await eventually(isTooLong, 'the policy');
    assert.equal((await second.post(path, boat('short', 5))).status, 201);
    await first.delete(`${group}/validatingadmissionpolicybindings/boats`);
    await first.delete(`${group}/validatingadmissionpolicies/boats`);
    await undefine(limits, clients);
  });

  it('may be large: another thread knows them as soon as their process does', async () => {
    const [first] = clients as [ApiClient];
    const wide = customDefinition({ plural: 'ships', kind: 'Ship', group: 'sea.example' }, [
      {
        name: 'v1',
        schema: specOf({ parts: { type: 'object', additionalProperties: text }, engine: { ...text, default: 'sail' } }),
      },
    ]);
    await define(wide, clients);
    const parts = Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`p${i}`, 'value']));
    const body = { apiVersion: 'sea.example/v1', kind: 'Ship', metadata: { name: 'big' }, spec: { parts, odd: 1 } };
    const created = await first.post(objectsPath(wide), body);
    assert.equal(created.status, 201, created.text.slice(0, 300));
    assert.deepEqual(
      [created.body.spec.engine, created.body.spec.odd, Object.keys(created.body.spec.parts).length],
      ['sail', undefined, 8_000],
    );
    const patched = await first.patch(`${objectsPath(wide)}/big`, 'merge', { spec: { engine: 'diesel' } });
    assert.deepEqual([patched.status, patched.body.spec.engine], [200, 'diesel']);
    await undefine(wide, clients);
  });
});
