import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WebhookServer } from '../support/webhook-server.js';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

/* Owners of fields whose entries name a version that the definition no longer has. */

let cluster: TestCluster;
let client: ApiClient;
let hooks: WebhookServer;

before(async () => {
  hooks = await WebhookServer.start();
  cluster = await sharedCluster('loops');
  client = cluster.servers[0]?.client as ApiClient;
});

after(async () => {
  await cluster?.stop();
  await hooks?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: objects of the test's own kinds
type Any = any;

const text = { type: 'string' };
const specOf = (properties: object) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties }, status: { type: 'object', properties: { phase: text } } },
});
const subresources = { status: {} };

/** `manager version fields` of every entry. */
function ownersOf({ metadata }: Any): string[] {
  return (metadata.managedFields ?? []).map(({ manager, apiVersion, fieldsV1 }: Any) => {
    const fields = [...Object.keys(fieldsV1['f:spec'] ?? {}), ...Object.keys(fieldsV1['f:status'] ?? {})];
    return `${manager} ${apiVersion.split('/')[1]} ${fields.flatMap((name) => (name === '.' ? [] : [name.slice(2)])).join(' ')}`;
  });
}

function applyTo(made: ReturnType<typeof customDefinition>, version: string, name: string, manager: string) {
  const path = `${objectsPath(made, version)}/${name}?fieldManager=${manager}`;
  return (spec: object) =>
    client.send('PATCH', path, {
      body: { apiVersion: `test.example/${version}`, kind: made.spec.names.kind, metadata: { name }, spec },
      contentType: 'application/apply-patch+yaml',
    });
}

/** Removes all versions but v2 from a definition. */
async function leaveSecond(made: ReturnType<typeof customDefinition>): Promise<void> {
  const versions = made.spec.versions.filter(({ name }) => (name as string) === 'v2');
  const changed = await client.patch(`${definitionsPath}/${made.metadata.name}`, 'merge', { spec: { versions } });
  assert.equal(changed.status, 200, changed.text);
  await eventually(async () => (await client.get(objectsPath(made, 'v1'))).status === 404, 'v1 is gone');
}

describe('owners of fields by a version that is gone', () => {
  const made = customDefinition({ plural: 'relics', kind: 'Relic' }, [
    { name: 'v2', schema: specOf({ a: text, b: text, c: text, d: { ...text, default: 'new' } }), subresources },
    { name: 'v1', schema: specOf({ a: text, b: text, c: text }), subresources },
  ]);
  const read = async (name: string) => (await client.get(`${objectsPath(made, 'v2')}/${name}`)).body;
  const start = ['one v1 a b', 'two v2 c'];

  before(async () => {
    await define(made, [client]);
    for (const name of ['conflict', 'same', 'other', 'patch', 'nothing', 'status', 'put']) {
      assert.equal((await applyTo(made, 'v1', name, 'one')({ a: '1', b: '1' })).status, 201);
      assert.equal((await applyTo(made, 'v2', name, 'two')({ c: '1' })).status, 200);
    }
    const unserved = [{ op: 'replace', path: '/spec/versions/1/served', value: false }];
    assert.equal((await client.patch(`${definitionsPath}/${made.metadata.name}`, 'json', unserved)).status, 200);
    await eventually(async () => (await client.get(objectsPath(made, 'v1'))).status === 404, 'v1 is not served');
    assert.equal((await applyTo(made, 'v2', 'other', 'three')({ a: '2' })).status, 409);
    await leaveSecond(made);
  });

  it('are shown as they were', async () => {
    assert.deepEqual(ownersOf(await read('nothing')), start);
  });

  it('keep their fields from other appliers', async () => {
    const refused = await applyTo(made, 'v2', 'conflict', 'three')({ b: '2' });
    assert.equal(refused.status, 409, refused.text);
    assert.deepEqual(
      refused.body.details.causes.map(({ field }: Any) => field),
      ['.spec.b'],
    );
    const applied = await applyTo(made, 'v2', 'conflict', 'three')({ a: '1' });
    assert.deepEqual(ownersOf(applied.body).sort(), ['one v1 a b', 'three v2 a', 'two v2 c'], applied.text);
  });

  it('remove what they no longer apply, in the version that is left', async () => {
    const { body } = await applyTo(made, 'v2', 'same', 'one')({ a: '1' });
    assert.deepEqual(body.spec, { a: '1', c: '1', d: 'new' });
    assert.deepEqual(ownersOf(body).sort(), ['one v2 a', 'two v2 c']);
  });

  it('stay through the writes of others, and lose what those change', async () => {
    const path = objectsPath(made, 'v2');
    const patched = await client.patch(`${path}/patch?fieldManager=x`, 'merge', { spec: { b: '9' } });
    assert.deepEqual(ownersOf(patched.body), ['one v1 a', 'two v2 c', 'x v2 b']);
    const status = await client.patch(`${path}/status/status?fieldManager=x`, 'merge', { status: { phase: 'On' } });
    assert.deepEqual(ownersOf(status.body), [...start, 'x v2 phase']);
    const next = await read('put');
    next.spec.c = '9';
    const put = await client.put(`${path}/put?fieldManager=x`, next);
    assert.deepEqual(ownersOf(put.body), ['one v1 a b', 'x v2 c']);
    const unchanged = await client.patch(`${path}/nothing?fieldManager=x`, 'merge', { spec: { b: '1' } });
    assert.deepEqual(ownersOf(unchanged.body), start);
    await undefine(made, [client]);
  });
});

it('owners of fields by a version that is gone, and whose names are not known, are dropped with the next change', async () => {
  hooks.on('/relics', ({ review: { request } }) => {
    const convertedObjects = request.objects.map(({ spec, ...rest }: Any) => {
      // The two fields swap their names.
      const { a, b, ...others } = spec;
      const swapped = { ...others, ...(a === undefined ? {} : { b: a }), ...(b === undefined ? {} : { a: b }) };
      return { ...rest, apiVersion: request.desiredAPIVersion, spec: swapped };
    });
    return { convertedObjects, result: { status: 'Success' } };
  });
  const webhook = {
    clientConfig: { url: hooks.url('/relics'), caBundle: hooks.caBundle },
    conversionReviewVersions: ['v1'],
  };
  const schema = specOf({ a: text, b: text, c: text });
  const made = customDefinition(
    { plural: 'idols', kind: 'Idol' },
    [
      { name: 'v2', schema, subresources },
      { name: 'v1', schema, subresources },
    ],
    { conversion: { strategy: 'Webhook', webhook } },
  );
  await define(made, [client]);
  for (const name of ['same', 'patch']) {
    assert.equal((await applyTo(made, 'v1', name, 'one')({ a: '1' })).status, 201);
    const two = await applyTo(made, 'v2', name, 'two')({ c: '1' });
    assert.deepEqual(two.body.spec, { b: '1', c: '1' }, two.text);
  }
  const former = `${objectsPath(made, 'v1')}/same?fieldManager=other`;
  assert.equal((await client.patch(former, 'merge', { spec: { b: '5' } })).status, 200);
  await leaveSecond(made);
  const path = objectsPath(made, 'v2');
  const patched = await client.patch(`${path}/patch?fieldManager=x`, 'merge', { spec: { c: '2' } });
  assert.deepEqual(ownersOf(patched.body), ['x v2 c']);
  // The applier's `a` is named `b` now. The present `a` was written by another manager and stays.
  const applied = await applyTo(made, 'v2', 'same', 'one')({ b: '1' });
  assert.deepEqual(applied.body.spec, { a: '5', b: '1', c: '1' }, applied.text);
  await undefine(made, [client]);
});
