import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ReceivedAdmissionReview, WebhookServer } from '../support/webhook-server.js';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';
import { readAll } from './support/watching.js';

/* v1 has `spec.size`, v2 has `spec.width` and `spec.height`; the stored version is v2. */

let cluster: TestCluster;
let clients: readonly ApiClient[];
let hooks: WebhookServer;

before(async () => {
  hooks = await WebhookServer.start();
  cluster = await sharedCluster('loops');
  clients = cluster.servers.map(({ client }) => client);
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

function converted(object: Any, apiVersion: string): Any {
  const { size, width, height, ...rest } = object.spec;
  const isNew = apiVersion.endsWith('/v2');
  if (isNew === (size === undefined)) return { ...object, apiVersion };
  const [w, h] = String(size).split('x');
  const spec = isNew ? { ...rest, width: w, height: h } : { ...rest, size: `${width}x${height}` };
  return { ...object, apiVersion, spec };
}

/** The response of an honest webhook. */
function answer({ review: { request } }: ReceivedAdmissionReview): { convertedObjects: Any[]; result: object } {
  const convertedObjects = request.objects.map((object: Any) => converted(object, request.desiredAPIVersion));
  return { convertedObjects, result: { status: 'Success' } };
}

let counter = 0;

/** Creates a kind whose webhook behaves as given. */
async function kindWith(behaviour: (received: ReceivedAdmissionReview) => Any = answer) {
  const n = counter++;
  const path = `/convert-${n}`;
  hooks.on(path, behaviour);
  const schemas = {
    v1: specOf({
      size: { ...text, maxLength: 9 },
      note: text,
      colour: { ...text, default: 'red' },
      finish: { ...text, default: 'matt' },
    }),
    v2: specOf({ width: text, height: text, note: text, colour: { ...text, default: 'red' } }),
  };
  const versions = (['v2', 'v1'] as const).map((name) => ({
    name,
    schema: schemas[name],
    subresources: { status: {} },
    additionalPrinterColumns: [
      { name: 'Size', type: 'string', jsonPath: name === 'v1' ? '.spec.size' : '.spec.width' },
    ],
  }));
  const made = customDefinition({ plural: `tiles${n}`, kind: `Tile${n}` }, versions, {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { url: hooks.url(path), caBundle: hooks.caBundle },
        conversionReviewVersions: ['v1', 'v1beta1'],
      },
    },
  });
  await define(made, clients);
  const kind = made.spec.names.kind;
  const tile = (version: string, name: string, spec: object, metadata: object = {}) => ({
    apiVersion: `test.example/${version}`,
    kind,
    metadata: { name, ...metadata },
    spec,
  });
  const v1 = objectsPath(made, 'v1');
  const v2 = objectsPath(made, 'v2');
  return { made, v1, v2, tile, calls: () => hooks.seen(path), path, failed: `conversion webhook for test.example/` };
}

describe('a kind with a conversion webhook', () => {
  it('is written and read in both versions', async () => {
    const { made, v1, v2, tile } = await kindWith();
    const [first, second] = clients as [ApiClient, ApiClient];
    const created = await first.post(v1, tile('v1', 'a', { size: '2x3' }));
    assert.equal(created.status, 201, created.text);
    assert.equal(created.body.apiVersion, 'test.example/v1');
    assert.deepEqual(created.body.spec, { size: '2x3', colour: 'red' });
    const stored = await second.get(`${v2}/a`);
    assert.deepEqual(
      [stored.body.apiVersion, stored.body.spec],
      ['test.example/v2', { width: '2', height: '3', colour: 'red' }],
    );
    assert.equal(stored.body.metadata.uid, created.body.metadata.uid);
    const invalid = await first.post(v1, tile('v1', 'b', { size: '1234x56789' }));
    assert.deepEqual([invalid.status, invalid.body.details?.causes?.[0]?.field], [422, 'spec.size'], invalid.text);
    const patched = await second.patch(`${v1}/a`, 'merge', { spec: { size: '4x5' } });
    assert.equal(patched.status, 200, patched.text);
    assert.equal(patched.body.metadata.generation, 2);
    assert.equal((await first.get(`${v2}/a`)).body.spec.width, '4');
    const status = await first.patch(`${v1}/a/status`, 'merge', { status: { phase: 'Laid' }, spec: { size: '9x9' } });
    assert.equal(status.status, 200, status.text);
    assert.deepEqual([status.body.spec.size, status.body.status.phase], ['4x5', 'Laid']);
    const list = await second.get(v1);
    assert.deepEqual(
      list.body.items.map(({ spec }: Any) => spec.size),
      ['4x5'],
    );
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const cells = async (path: string) => (await first.get(path, { headers: { accept } })).body.rows[0].cells;
    assert.deepEqual(
      [await cells(v1), await cells(v2)],
      [
        ['a', '4x5'],
        ['a', '4'],
      ],
    );
    const update = await second.put(`${v1}/a`, {
      ...patched.body,
      metadata: { ...patched.body.metadata, resourceVersion: status.body.metadata.resourceVersion },
      spec: { size: '6x7' },
    });
    assert.equal(update.status, 200, update.text);
    const deleted = await first.delete(`${v1}/a`);
    assert.equal(deleted.status, 200, deleted.text);
    await undefine(made, clients);
  });

  it('has the defaults of the versions that it is written and stored in, not of those that it is read in', async () => {
    const { made, v1, v2, tile } = await kindWith();
    const [first] = clients as [ApiClient];
    const created = await first.post(v2, tile('v2', 'a', { width: '2', height: '3' }));
    assert.equal(created.status, 201, created.text);
    assert.deepEqual((await first.get(`${v1}/a`)).body.spec, { size: '2x3', colour: 'red' });
    assert.deepEqual((await first.get(v1)).body.items[0].spec, { size: '2x3', colour: 'red' });
    const patched = await first.patch(`${v1}/a`, 'merge', { spec: { colour: null } });
    assert.deepEqual(patched.body.spec, { size: '2x3', colour: 'red' }, patched.text);
    await undefine(made, clients);
  });

  it('is watched in both versions, converted once for all watches', async () => {
    const { made, v1, v2, tile } = await kindWith();
    const [first, second] = clients as [ApiClient, ApiClient];
    assert.equal((await first.post(v2, tile('v2', 'a', { width: '1', height: '2' }))).status, 201);
    const streams = await Promise.all([1, 2].map(() => second.watch(`${v1}?watch=1`)));
    for (const stream of streams) assert.equal((await stream.next())?.object.spec.size, '1x2');
    assert.equal((await first.patch(`${v2}/a`, 'merge', { spec: { width: '8' } })).status, 200);
    for (const stream of streams) {
      const event = await stream.next();
      assert.deepEqual([event?.type, event?.object.spec.size], ['MODIFIED', '8x2']);
    }
    assert.equal((await first.delete(`${v2}/a`)).status, 200);
    for (const stream of streams) {
      const event = await stream.next();
      assert.deepEqual([event?.type, event?.object.spec.size], ['DELETED', '8x2']);
      stream.close();
    }
    await undefine(made, clients);
  });

  it('keeps field owners of both versions', async () => {
    const { made, v1, v2, tile } = await kindWith();
    const [first, second] = clients as [ApiClient, ApiClient];
    const apply = (client: ApiClient, path: string, manager: string, body: object) =>
      client.send('PATCH', `${path}/a?fieldManager=${manager}`, { body, contentType: 'application/apply-patch+yaml' });
    const one = await apply(first, v1, 'one', tile('v1', 'a', { size: '1x2' }));
    assert.equal(one.status, 201, one.text);
    const two = await apply(second, v2, 'two', tile('v2', 'a', { note: 'x' }));
    assert.equal(two.status, 200, two.text);
    const conflict = await apply(second, v2, 'two', tile('v2', 'a', { width: '7', note: 'x' }));
    assert.equal(conflict.status, 409, conflict.text);
    const owners = (await first.get(`${v2}/a`)).body.metadata.managedFields;
    assert.deepEqual(owners.map(({ manager, apiVersion }: Any) => `${manager} ${apiVersion}`).sort(), [
      'one test.example/v1',
      'two test.example/v2',
    ]);
    await undefine(made, clients);
  });

  it('rewrites objects of a former storage version with a plain update', async () => {
    const { made, v1, v2, tile } = await kindWith();
    const [first, second] = clients as [ApiClient, ApiClient];
    assert.equal((await first.post(v2, tile('v2', 'a', { width: '1', height: '2' }))).status, 201);
    const turned = await first.patch(`${definitionsPath}/${made.metadata.name}`, 'json', [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ]);
    assert.equal(turned.status, 200, turned.text);
    for (const client of clients) {
      await eventually(async () => (await client.get(`${v1}/a`)).body.spec?.size === '1x2', 'the object in v1');
      assert.equal((await client.get(`${v2}/a`)).body.spec.width, '1');
      assert.equal((await client.get(v1)).body.items[0].spec.size, '1x2');
    }
    const before = await second.get(`${v1}/a`);
    await eventually(async () => {
      const { body } = await second.get(`${v1}/a`);
      const put = await second.put(`${v1}/a`, body);
      return put.status === 200 && put.body.metadata.resourceVersion !== before.body.metadata.resourceVersion;
    }, 'the object is written anew');
    assert.equal((await first.get(`${v1}/a`)).body.metadata.generation, 1);
    assert.equal((await first.get(`${v2}/a`)).body.spec.width, '1');
    await undefine(made, clients);
  });

  it('lists many objects with few calls', async () => {
    const { made, v1, v2, tile, calls } = await kindWith();
    const [first, second] = clients as [ApiClient, ApiClient];
    for (let i = 0; i < 1_250; i += 50) {
      const bodies = Array.from({ length: 50 }, (_, k) => tile('v2', `t${i + k}`, { width: '1', height: '2' }));
      const answers = await Promise.all(bodies.map((body) => first.post(v2, body)));
      assert.ok(answers.every(({ status }) => status === 201));
    }
    const before = calls().length;
    const list = await second.get(v1);
    assert.equal(list.body.items.length, 1_250);
    assert.ok(list.body.items.every(({ spec }: Any) => spec.size === '1x2'));
    assert.ok(calls().length - before <= 5, `${calls().length - before} calls`);
    await undefine(made, clients);
  });
});

describe('a conversion webhook that fails', () => {
  const change = (edit: (object: Any) => Any) => (received: ReceivedAdmissionReview) => {
    const { convertedObjects, ...rest } = answer(received);
    return { ...rest, convertedObjects: convertedObjects.map(edit) };
  };
  const faults: readonly (readonly [string, (received: ReceivedAdmissionReview) => Any, RegExp])[] = [
    ['is dead', () => 'cut', /Post "https:/],
    ['answers 500', () => ({ http: 500, text: 'no' }), /failed: /],
    ['answers another uid', (r) => ({ ...answer(r), uid: 'other' }), /expected response\.uid=/],
    ['says Failure', () => ({ result: { status: 'Failure', message: 'not today' } }), /failed: not today/],
    ['leaves objects out', (r) => ({ ...answer(r), convertedObjects: [] }), /returned 0 objects, expected 1/],
    ['answers another version', change((o) => ({ ...o, apiVersion: 'test.example/v3' })), /expected apiVersion/],
    ['answers another kind', change((o) => ({ ...o, kind: 'Other' })), /expected kind/],
    ['answers another name', change((o) => ({ ...o, metadata: { ...o.metadata, name: 'z' } })), /metadata\.name/],
    ['answers another id', change((o) => ({ ...o, metadata: { ...o.metadata, uid: 'z' } })), /metadata\.uid/],
    ['answers 10 MB', change((o) => ({ ...o, spec: { note: 'x'.repeat(10_000_000) } })), /more than \d+ bytes/],
    ['answers no JSON', () => ({ http: 200, text: '<html>' }), /not JSON/],
  ];
  for (const [what, behaviour, message] of faults) {
    it(`${what}: a 500 with its reason, and other versions go on`, async () => {
      let isFaulty = false;
      const { made, v1, v2, tile, failed } = await kindWith((received) =>
        isFaulty ? behaviour(received) : answer(received),
      );
      const [first, second] = clients as [ApiClient, ApiClient];
      assert.equal((await first.post(v2, tile('v2', 'a', { width: '1', height: '2' }))).status, 201);
      const stream = await second.watch(`${v1}?watch=1`);
      assert.equal((await stream.next())?.object.spec.size, '1x2');
      isFaulty = true;
      for (const path of [`${v1}/a`, v1]) {
        const got = await first.get(path);
        assert.equal(got.status, 500, got.text);
        assert.ok(got.body.message.startsWith(`${failed}v2, Kind=${made.spec.names.kind} failed: `), got.text);
        assert.match(got.body.message, message);
      }
      const refused = await first.post(v1, tile('v1', 'b', { size: '1x2' }));
      assert.equal(refused.status, 500, refused.text);
      assert.equal((await first.patch(`${v2}/a`, 'merge', { spec: { width: '3' } })).status, 200);
      const events = await readAll(stream, 60_000);
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.code]),
        [['ERROR', 500]],
      );
      isFaulty = false;
      assert.equal((await second.get(`${v1}/a`)).body.spec.size, '3x2');
      await undefine(made, clients);
    });
  }

  it('may change labels and annotations, and no other metadata', async () => {
    const { made, v1, v2, tile } = await kindWith(
      change((o) => ({
        ...o,
        metadata: { ...o.metadata, labels: { made: 'here' }, finalizers: ['x.example/y'], generation: 77 },
      })),
    );
    const [first] = clients as [ApiClient];
    assert.equal((await first.post(v2, tile('v2', 'a', { width: '1', height: '2' }))).status, 201);
    const { metadata } = (await first.get(`${v1}/a`)).body;
    assert.deepEqual([metadata.labels, metadata.finalizers, metadata.generation], [{ made: 'here' }, undefined, 1]);
    await undefine(made, clients);
  });

  it('hangs: its requests end in time, and other kinds and the clean-up go on', async () => {
    let release = () => {};
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hung = await kindWith(async (received) => {
      await hanging;
      return answer(received);
    });
    const good = await kindWith();
    const [first, second] = clients as [ApiClient, ApiClient];
    assert.equal((await first.post(hung.v2, hung.tile('v2', 'a', { width: '1', height: '2' }))).status, 201);
    const waiting = Array.from({ length: 20 }, () => first.get(`${hung.v1}?timeoutSeconds=3`));
    assert.equal((await first.post(good.v1, good.tile('v1', 'a', { size: '1x2' }))).status, 201);
    assert.equal((await second.get(`${good.v1}/a`)).body.spec.size, '1x2');
    for (const answered of await Promise.all(waiting)) assert.ok(answered.status >= 500, answered.text);
    await undefine(hung.made, clients);
    release();
    await undefine(good.made, clients);
  });
});
