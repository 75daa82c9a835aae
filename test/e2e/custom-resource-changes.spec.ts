import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';
import { readAll } from './support/watching.js';

let cluster: TestCluster;
let clients: readonly ApiClient[];
let database: pg.Client;

before(async () => {
  cluster = await TestCluster.start({ servers: 2, controllers: true, flags: ['--authorization-mode=RBAC'] });
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

/** Changes the schema of a version, and waits until all processes have the new one. */
async function changeSchema(made: ReturnType<typeof customDefinition>, index: number, schema: object): Promise<void> {
  const { name } = made.metadata;
  const value = { openAPIV3Schema: schema };
  const path = `/spec/versions/${index}/schema`;
  const changed = await clients[0]?.patch(`${definitionsPath}/${name}`, 'json', [{ op: 'replace', path, value }]);
  assert.equal(changed?.status, 200, changed?.text ?? '');
  const { group, versions } = made.spec;
  const document = `/openapi/v3/apis/${group}/${versions[index]?.name}`;
  const expected = JSON.stringify(
    Object.keys((schema as { properties: { spec: { properties: object } } }).properties.spec.properties).sort(),
  );
  for (const client of clients) {
    await eventually(async () => {
      const { body } = await client.get(document);
      return Object.values<{ properties?: { spec?: { properties?: object } } }>(body.components.schemas).some(
        ({ properties }) => JSON.stringify(Object.keys(properties?.spec?.properties ?? {}).sort()) === expected,
      );
    }, 'the new schema');
  }
}

describe('a changed definition', () => {
  it('ends watches, and shows stored objects by the new schema', async () => {
    const made = customDefinition({ plural: 'lamps', kind: 'Lamp' }, [
      { name: 'v1', schema: specOf({ a: text, b: text }) },
    ]);
    await define(made, clients);
    const [first, second] = clients as [ApiClient, ApiClient];
    const path = objectsPath(made);
    const body = { apiVersion: 'test.example/v1', kind: 'Lamp', metadata: { name: 'x' }, spec: { a: '1', b: '2' } };
    assert.equal((await first.post(path, body)).status, 201);
    const stream = await second.watch(`${path}?watch=1`);
    assert.equal((await stream.next())?.type, 'ADDED');
    await changeSchema(made, 0, specOf({ a: text, c: { ...text, default: 'new' } }));
    assert.deepEqual(await readAll(stream, 60_000), []);
    for (const client of clients) {
      const expected = { a: '1', c: 'new' };
      assert.deepEqual((await client.get(`${path}/x`)).body.spec, expected);
      assert.deepEqual((await client.get(path)).body.items[0].spec, expected);
      const again = await client.watch(`${path}?watch=1`);
      assert.deepEqual((await again.next())?.object.spec, expected);
      again.close();
    }
    // A write brings the stored text up to date.
    const patched = await second.patch(`${path}/x`, 'merge', { metadata: { labels: { n: '1' } } });
    assert.deepEqual(patched.body.spec, { a: '1', c: 'new' });
    assert.equal(patched.body.metadata.generation, 1);
    await undefine(made, clients);
  });

  it('lets the status be written of objects that no longer fit, by the part of the schema that is about it', async () => {
    const status = {
      type: 'object',
      properties: {
        addresses: {
          type: 'array',
          items: { type: 'object', properties: { value: { type: 'string', format: 'ipv4' } } },
        },
      },
    };
    const { properties } = specOf({ a: text });
    const schema = { type: 'object', properties: { ...properties, status } };
    const made = customDefinition({ plural: 'masts', kind: 'Mast' }, [
      { name: 'v1', schema, subresources: { status: {} } },
    ]);
    await define(made, clients);
    const [first] = clients as [ApiClient];
    const path = objectsPath(made);
    const body = { apiVersion: 'test.example/v1', kind: 'Mast', metadata: { name: 'x' } };
    assert.equal((await first.post(path, body)).status, 201);
    const more = { ...properties, status };
    (more.spec.properties as Record<string, object>).b = text;
    await changeSchema(made, 0, { type: 'object', required: ['spec'], properties: more });
    const write = (addresses: readonly object[]) => first.patch(`${path}/x/status`, 'merge', { status: { addresses } });
    const written = await write([{ value: '10.0.0.1' }]);
    assert.equal(written.status, 200, written.text);
    const refused = await write([{ value: '10.0.0.1:80' }]);
    assert.equal(
      refused.body.message,
      'Mast.test.example "x" is invalid: status.addresses[0].value: Invalid value: "10.0.0.1:80": ' +
        'addresses[0].value in body must be of type ipv4: "10.0.0.1:80"',
    );
    const whole = await first.patch(`${path}/x`, 'merge', { metadata: { labels: { n: '1' } } });
    assert.deepEqual([whole.status, whole.body.details.causes[0].field], [422, 'spec']);
    const gone = await first.patch(`${path}/x/status`, 'merge', { status: null });
    assert.deepEqual([gone.status, gone.body.status], [200, undefined]);
    await undefine(made, clients);
  });

  it('gives a status its defaults from the first write on, and drops that of a client', async () => {
    const status = {
      type: 'object',
      default: { observedGeneration: -1 },
      properties: { observedGeneration: { type: 'integer' }, phase: { ...text, default: 'New' } },
    };
    const schema = { type: 'object', properties: { ...specOf({ a: text }).properties, status } };
    const made = customDefinition({ plural: 'bells', kind: 'Bell' }, [
      { name: 'v1', schema, subresources: { status: {} } },
      { name: 'v1beta1', schema: specOf({ a: text }) },
    ]);
    await define(made, clients);
    const [first, second] = clients as [ApiClient, ApiClient];
    const path = objectsPath(made);
    const body = (name: string, version = 'v1') => ({
      apiVersion: `test.example/${version}`,
      kind: 'Bell',
      metadata: { name },
    });
    const beta = { ...body('c', 'v1beta1'), spec: { a: '1' } };
    const answers = [
      await first.post(path, { ...body('a'), status: { phase: 'Mine' } }),
      await first.send('PATCH', `${path}/b?fieldManager=m`, {
        body: body('b'),
        contentType: 'application/apply-patch+yaml',
      }),
    ];
    assert.equal((await first.post(objectsPath(made, 'v1beta1'), beta)).status, 201);
    for (const name of ['a', 'b', 'c']) answers.push(await second.get(`${path}/${name}`));
    for (const answer of answers) {
      assert.deepEqual(answer.body.status, { observedGeneration: -1, phase: 'New' }, answer.text);
    }
    await undefine(made, clients);
  });

  it('gets its new short names accepted, and its names back when somebody overwrites them', async () => {
    const made = customDefinition({ plural: 'torches', kind: 'Torch', shortNames: ['tr'] }, [{ name: 'v1' }]);
    await define(made, clients);
    const [first, second] = clients as [ApiClient, ApiClient];
    const path = `${definitionsPath}/${made.metadata.name}`;
    const renamed = await first.patch(path, 'merge', { spec: { names: { shortNames: ['to', 'tc'] } } });
    assert.equal(renamed.status, 200, renamed.text);
    const accepted = async () => JSON.stringify((await second.get(path)).body.status.acceptedNames.shortNames);
    await eventually(async () => (await accepted()) === '["to","tc"]', 'the short names are accepted');
    const forged = { status: { acceptedNames: { plural: 'pods', kind: 'Pod', shortNames: ['po'] } } };
    const overwritten = await first.patch(`${path}/status`, 'merge', forged);
    assert.equal(overwritten.status, 200, overwritten.text);
    await eventually(async () => (await accepted()) === '["to","tc"]', 'the names are put right');
    const { acceptedNames } = (await second.get(path)).body.status;
    assert.deepEqual([acceptedNames.plural, acceptedNames.kind], ['torches', 'Torch']);
    await undefine(made, clients);
  });

  it('keeps the owners of fields that become atomic or granular', async () => {
    const items = { type: 'array', items: { type: 'object', properties: { n: text, v: text }, required: ['n'] } };
    const keyed = { ...items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'] };
    const made = customDefinition({ plural: 'racks', kind: 'Rack' }, [
      { name: 'v1', schema: specOf({ items: keyed }) },
    ]);
    await define(made, clients);
    const [client] = clients as [ApiClient];
    const path = `${objectsPath(made)}/r`;
    const apply = (manager: string, values: readonly object[], force = false) =>
      client.send('PATCH', `${path}?fieldManager=${manager}${force ? '&force=true' : ''}`, {
        body: { apiVersion: 'test.example/v1', kind: 'Rack', metadata: { name: 'r' }, spec: { items: values } },
        contentType: 'application/apply-patch+yaml',
      });
    assert.equal((await apply('one', [{ n: 'a', v: '1' }])).status, 201);
    const both = await apply('two', [{ n: 'b', v: '2' }]);
    assert.deepEqual(both.body.spec.items, [
      { n: 'a', v: '1' },
      { n: 'b', v: '2' },
    ]);
    assert.equal((await apply('two', [{ n: 'a', v: '9' }])).status, 409);
    await changeSchema(made, 0, specOf({ items: { ...items, 'x-kubernetes-list-type': 'atomic' }, more: text }));
    const conflict = await apply('two', [{ n: 'c', v: '3' }]);
    assert.deepEqual([conflict.status, conflict.body.details.causes[0].field], [409, '.spec.items']);
    assert.deepEqual((await apply('two', [{ n: 'c', v: '3' }], true)).body.spec.items, [{ n: 'c', v: '3' }]);
    await changeSchema(made, 0, specOf({ items: keyed }));
    const added = await apply('three', [{ n: 'd', v: '4' }]);
    assert.deepEqual(added.body.spec.items, [
      { n: 'c', v: '3' },
      { n: 'd', v: '4' },
    ]);
    await undefine(made, clients);
  });

  it('serves objects in all of its versions', async () => {
    const made = customDefinition({ plural: 'desks', kind: 'Desk' }, [
      {
        name: 'v1',
        schema: specOf({ a: text, b: text }),
        additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
      },
      { name: 'v1beta1', schema: specOf({ a: text, old: { ...text, maxLength: 2 } }), deprecated: true },
      { name: 'v1alpha1', served: false },
    ]);
    await define(made, clients);
    const [first, second] = clients as [ApiClient, ApiClient];
    const [stable, beta] = ['v1', 'v1beta1'].map((version) => objectsPath(made, version)) as [string, string];
    const body = {
      apiVersion: 'test.example/v1beta1',
      kind: 'Desk',
      metadata: { name: 'x' },
      spec: { a: '1', old: '2' },
    };
    const created = await first.post(beta, body);
    assert.equal(created.status, 201, created.text);
    assert.equal(created.headers.warning, '299 - "test.example/v1beta1 Desk is deprecated; use test.example/v1 Desk"');
    assert.deepEqual((await second.get(`${stable}/x`)).body.spec, { a: '1' });
    const invalid = await first.post(beta, { ...body, metadata: { name: 'y' }, spec: { old: 'long' } });
    assert.equal(invalid.status, 422);
    assert.equal((await second.patch(`${stable}/x`, 'merge', { spec: { b: '3' } })).status, 200);
    const read = await first.get(`${beta}/x`);
    assert.deepEqual([read.body.apiVersion, read.body.spec], ['test.example/v1beta1', { a: '1' }]);
    const list = await second.get(beta);
    assert.deepEqual(
      [list.body.apiVersion, list.body.kind, list.body.items[0].spec],
      ['test.example/v1beta1', 'DeskList', { a: '1' }],
    );
    assert.equal((await first.get(objectsPath(made, 'v1alpha1'))).status, 404);
    const group = await second.get('/apis/test.example');
    assert.deepEqual(
      group.body.versions.map(({ version }: { version: string }) => version),
      ['v1', 'v1beta1'],
    );
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const columns = async (path: string) =>
      (await first.get(path, { headers: { accept } })).body.columnDefinitions.map(({ name }: { name: string }) => name);
    assert.deepEqual(
      [await columns(stable), await columns(beta)],
      [
        ['Name', 'A'],
        ['Name', 'Age'],
      ],
    );
    await undefine(made, clients);
  });

  it('has an SQL view, which changes with it', async () => {
    const made = customDefinition({ plural: 'pens', kind: 'Pen' }, [
      {
        name: 'v1',
        schema: {
          type: 'object',
          properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, colour: text },
        },
      },
    ]);
    await define(made, clients);
    const columns = async () => {
      const { rows } = await database.query<{ column_name: string; data_type: string }>(
        `select column_name, data_type from information_schema.columns
         where table_schema = 'cluster' and table_name = 'pens' and column_name in ('spec', 'colour', 'made')
         order by column_name`,
      );
      return rows.map((row) => `${row.column_name} ${row.data_type}`).join(', ');
    };
    await eventually(async () => (await columns()) === 'colour text, spec jsonb', 'the view');
    await clients[0]?.post(objectsPath(made), {
      apiVersion: 'test.example/v1',
      kind: 'Pen',
      metadata: { name: 'p' },
      colour: 'red',
      spec: { a: 1 },
    });
    const { rows } = await database.query("select name, colour, spec ->> 'a' as a from cluster.pens");
    assert.deepEqual(rows, [{ name: 'p', colour: 'red', a: '1' }]);
    const properties = { colour: text, made: { type: 'string', format: 'date-time' } };
    const value = { openAPIV3Schema: { type: 'object', properties } };
    await clients[0]?.patch(`${definitionsPath}/pens.test.example`, 'json', [
      { op: 'replace', path: '/spec/versions/0/schema', value },
    ]);
    await eventually(
      async () => (await columns()) === 'colour text, made timestamp with time zone',
      'the changed view',
    );
    await undefine(made, clients);
    await eventually(async () => (await columns()) === '', 'no view');
  });
});

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
        // A process that has not heard of it yet may create one, which goes with the others.
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
    // Its memory of namespaces may still show the last moment of this one.
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
    // The parameter may be known a moment later than the policy, which denies without it.
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
