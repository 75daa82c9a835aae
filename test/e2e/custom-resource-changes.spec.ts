import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';
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
