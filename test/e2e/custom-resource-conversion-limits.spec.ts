import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ReceivedAdmissionReview, WebhookServer } from '../support/webhook-server.js';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, objectsPath, undefine } from './support/custom-definitions.js';
import { Http2Client, type Http2Response } from './support/http2-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

/* v1 has `spec.count`, v2 has `spec.replicas`; the stored version is v2. */

let cluster: TestCluster;
let client: ApiClient;
let hooks: WebhookServer;

before(async () => {
  hooks = await WebhookServer.start(['convert.hooks.svc']);
  cluster = await TestCluster.start({
    controllers: true,
    flags: [
      `--admission-webhook-service-addresses=hooks/convert=127.0.0.1:${hooks.port}`,
      '--admission-webhook-denied-cidrs=127.0.0.2/32',
    ],
  });
  client = cluster.first.client;
});

after(async () => {
  await cluster?.stop();
  await hooks?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: objects of the test's own kinds
type Any = any;
type Behaviour = (received: ReceivedAdmissionReview) => Any;

function converted(object: Any, apiVersion: string): Any {
  const { count, replicas, ...rest } = object.spec ?? {};
  const number = count ?? replicas;
  const spec = apiVersion.endsWith('/v2') ? { ...rest, replicas: number } : { ...rest, count: number };
  return { ...object, apiVersion, spec };
}

/** The response of an honest webhook. */
const answer: Behaviour = ({ review: { request } }) => ({
  convertedObjects: request.objects.map((object: Any) => converted(object, request.desiredAPIVersion)),
  result: { status: 'Success' },
});

let counter = 0;

/** Creates a kind. @param config the client config of its webhook; the default is the webhook's URL */
async function kindWith(behaviour: Behaviour = answer, config?: object, reviews = ['v1']) {
  const n = counter++;
  const path = `/convert-${n}`;
  hooks.on(path, behaviour);
  const number = { type: 'integer' };
  const versionOf = (name: string, field: string) => ({
    name,
    schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { [field]: number, note: { type: 'string' } } },
        status: { type: 'object', properties: { [field]: number } },
      },
    },
    subresources: {
      status: {},
      scale: { specReplicasPath: `.spec.${field}`, statusReplicasPath: `.status.${field}` },
    },
  });
  const clientConfig = config ?? { url: hooks.url(path), caBundle: hooks.caBundle };
  const made = customDefinition(
    { plural: `shelves${n}`, kind: `Shelf${n}` },
    [versionOf('v2', 'replicas'), versionOf('v1', 'count')],
    { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: reviews } } },
  );
  await define(made, [client]);
  const shelf = (version: string, name: string, spec: object) => ({
    apiVersion: `test.example/${version}`,
    kind: made.spec.names.kind,
    metadata: { name },
    spec,
  });
  return { made, v1: objectsPath(made, 'v1'), v2: objectsPath(made, 'v2'), shelf, path, calls: () => hooks.seen(path) };
}

describe('a conversion webhook', () => {
  it('is found by its service', async () => {
    const service = { namespace: 'hooks', name: 'convert', path: '/convert-service' };
    hooks.on('/convert-service', answer);
    const { made, v1, v2, shelf } = await kindWith(answer, { service, caBundle: hooks.caBundle });
    assert.equal((await client.post(v1, shelf('v1', 'a', { count: 3 }))).status, 201);
    assert.equal((await client.get(`${v2}/a`)).body.spec.replicas, 3);
    assert.ok(hooks.seen('/convert-service').length > 0);
    await undefine(made, [client]);
  });

  const unreachable: readonly [string, () => object, RegExp][] = [
    [
      'at a forbidden address',
      () => ({ url: `https://127.0.0.2:${hooks.port}/` }),
      /connections to 127\.0\.0\.2 are not/,
    ],
    [
      'at a service that is not there',
      () => ({ service: { namespace: 'hooks', name: 'absent' } }),
      /"absent" not found/,
    ],
    ['from another authority', () => ({ url: hooks.url('/'), caBundle: '' }), /x509: .* unknown authority/],
  ];
  for (const [where, config, message] of unreachable) {
    it(`${where} is not called, and the stored version is served`, async () => {
      const { made, v1, v2, shelf } = await kindWith(answer, config());
      assert.equal((await client.post(v2, shelf('v2', 'a', { replicas: 1 }))).status, 201);
      const { status, body } = await client.get(`${v1}/a`);
      assert.equal(status, 500);
      assert.match(body.message, message);
      assert.equal((await client.get(`${v2}/a`)).status, 200);
      await undefine(made, [client]);
    });
  }

  it('that only knows reviews of v1beta1 is asked with these', async () => {
    const { made, v1, v2, shelf, calls } = await kindWith(answer, undefined, ['v1beta1']);
    assert.equal((await client.post(v1, shelf('v1', 'a', { count: 3 }))).status, 201);
    assert.equal((await client.get(`${v2}/a`)).body.spec.replicas, 3);
    assert.deepEqual(
      new Set(calls().map(({ review }) => review.apiVersion)),
      new Set(['apiextensions.k8s.io/v1beta1']),
    );
    await undefine(made, [client]);
  });

  it('that knows no review of this server is refused', async () => {
    const refused = await kindWith(answer, undefined, ['v7']).catch((error: Error) => error);
    assert.match(String(refused), /must include at least one of v1, v1beta1/);
  });

  it('must answer in the order of the question', async () => {
    const { made, v1, v2, shelf } = await kindWith((received) => {
      const { convertedObjects, ...rest } = answer(received);
      return { ...rest, convertedObjects: convertedObjects.toReversed() };
    });
    for (const name of ['a', 'b']) await client.post(v2, shelf('v2', name, { replicas: 1 }));
    const { status, body } = await client.get(v1);
    assert.equal(status, 500);
    assert.match(body.message, /converted object at index 0: metadata\.name: expected "a", got "b"/);
    await undefine(made, [client]);
  });

  it('is asked no more often than needed, and counted', async () => {
    const { made, v1, v2, shelf, calls } = await kindWith();
    const callsOf = async (act: () => Promise<{ status: number; text: string }>) => {
      const before = calls().length;
      const { status, text } = await act();
      assert.ok(status < 300, text);
      const count = calls().length - before;
      // An update that begins with an older copy, because another process has written meanwhile, converts again. This
      // list waits for the newest one, in the stored version.
      const { resourceVersion } = JSON.parse(text).metadata;
      assert.equal((await client.get(`${v2}?resourceVersion=${resourceVersion}`)).status, 200);
      assert.equal(calls().length - before, count, 'the list converts nothing');
      return count;
    };
    // To the stored version, and back for the response.
    assert.equal(await callsOf(() => client.post(v1, shelf('v1', 'a', { count: 1 }))), 2);
    assert.equal(await callsOf(() => client.get(`${v1}/a`)), 1);
    // The live object is converted, too.
    assert.equal(await callsOf(() => client.patch(`${v1}/a`, 'merge', { spec: { count: 2 } })), 3);
    // The owners of fields are recorded in the versions of their managers.
    assert.equal(await callsOf(() => client.patch(`${v2}/a`, 'merge', { spec: { replicas: 3 } })), 2);
    assert.equal(await callsOf(() => client.post(v2, shelf('v2', 'b', { replicas: 1 }))), 0);
    assert.equal(await callsOf(() => client.patch(`${v2}/b`, 'merge', { spec: { replicas: 3 } })), 0);
    const { text } = await client.get('/metrics');
    const name = made.metadata.name;
    const kind = `crd_name="${name}",from_version="v2",to_version="v1",succeeded="true"`;
    assert.ok(text.includes(`apiserver_crd_conversion_webhook_duration_seconds_count{${kind}} 6`));
    assert.match(text, /\napiserver_conversion_webhook_request_total\{result="success",failure_type=""\} \d+\n/);
    assert.match(
      text,
      /\napiserver_conversion_webhook_duration_seconds_count\{result="success",failure_type=""\} \d+\n/,
    );
    await undefine(made, [client]);
  });

  it('converts for the scale of another version', async () => {
    const { made, v1, v2, shelf } = await kindWith();
    assert.equal((await client.post(v2, shelf('v2', 'a', { replicas: 2 }))).status, 201);
    const scale = await client.get(`${v1}/a/scale`);
    assert.deepEqual([scale.status, scale.body.kind, scale.body.spec?.replicas], [200, 'Scale', 2], scale.text);
    const put = await client.put(`${v1}/a/scale`, { ...scale.body, spec: { replicas: 5 } });
    assert.deepEqual([put.status, put.body.spec?.replicas], [200, 5], put.text);
    assert.equal((await client.get(`${v2}/a`)).body.spec.replicas, 5);
    const patched = await client.patch(`${v1}/a/scale`, 'merge', { spec: { replicas: 7 } });
    assert.deepEqual([patched.status, patched.body.spec?.replicas], [200, 7], patched.text);
    assert.equal((await client.get(`${v1}/a`)).body.spec.count, 7);
    await undefine(made, [client]);
  });

  it('converts large objects, too', async () => {
    const { made, v1, v2, shelf } = await kindWith();
    const note = JSON.stringify(Array.from({ length: 40_000 }, (_, i) => ({ [`k${i}`]: i }))).slice(0, 1_200_000);
    const created = await client.post(v1, shelf('v1', 'a', { count: 1, note }));
    assert.equal(created.status, 201, created.text.slice(0, 300));
    assert.equal((await client.get(`${v2}/a`)).body.spec.note.length, note.length);
    const patched = await client.patch(`${v1}/a`, 'merge', { spec: { count: 4 } });
    assert.deepEqual([patched.status, patched.body.spec?.count], [200, 4], patched.text.slice(0, 300));
    for (const name of ['b', 'c', 'd']) await client.post(v2, shelf('v2', name, { replicas: 1, note }));
    const list = await client.get(v1);
    assert.deepEqual(
      [list.status, list.body.items?.map(({ spec }: Any) => spec.count)],
      [200, [4, 1, 1, 1]],
      list.text.slice(0, 300),
    );
    await undefine(made, [client]);
  });

  /** A webhook whose objects of `v1` have a note that is not in the stored ones. */
  const withNote = (note: (name: string) => string): Behaviour => {
    return ({ review: { request } }) => ({
      convertedObjects: request.objects.map((object: Any) => {
        const made = converted(object, request.desiredAPIVersion);
        if (!request.desiredAPIVersion.endsWith('/v1')) return made;
        return { ...made, spec: { ...made.spec, note: note(object.metadata.name) } };
      }),
      result: { status: 'Success' },
    });
  };

  it('may not answer with far more than it was sent', async () => {
    const { made, v1, v2, shelf } = await kindWith(withNote((name) => 'x'.repeat(name === 'b' ? 80_000 : 40_000)));
    for (const name of ['a', 'b']) await client.post(v2, shelf('v2', name, { replicas: 1 }));
    assert.equal((await client.get(`${v1}/a`)).body.spec?.note?.length, 40_000);
    for (const path of [`${v1}/b`, v1]) {
      const { status, body } = await client.get(path);
      assert.equal(status, 500, path);
      assert.match(body.message, /more than \d+ (characters|bytes)/);
    }
    await undefine(made, [client]);
  });

  it('may answer with twice of what it was sent', async () => {
    const { made, v1, v2, shelf } = await kindWith(withNote(() => 'x'.repeat(1_800_000)));
    const note = 'y'.repeat(900_000);
    for (const name of ['a', 'b', 'c']) await client.post(v2, shelf('v2', name, { replicas: 1, note }));
    const { status, body, text } = await client.get(v1);
    assert.equal(status, 200, text.slice(0, 300));
    assert.deepEqual(
      body.items.map(({ spec }: Any) => spec.note.length),
      [1_800_000, 1_800_000, 1_800_000],
    );
    await undefine(made, [client]);
  });

  it('that nests too deeply has failed', async () => {
    const deep = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`;
    const { made, v1, v2, shelf } = await kindWith((received) => {
      const { review } = received;
      const { convertedObjects } = answer(received);
      const objects = convertedObjects.map((one: Any) => `${JSON.stringify(one).slice(0, -1)},"deep":${deep}}`);
      const head = JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind }).slice(0, -1);
      const response = `{"uid":"${review.request.uid}","result":{"status":"Success"},"convertedObjects":[${objects}]}`;
      return { http: 200, text: `${head},"response":${response}}` };
    });
    await client.post(v2, shelf('v2', 'a', { replicas: 1 }));
    const { status, body } = await client.get(`${v1}/a`);
    assert.deepEqual([status, body.message.includes('a converted object is nested too deeply')], [500, true]);
    await undefine(made, [client]);
  });

  it('that hangs has room for some calls; more are refused at once', async () => {
    let release = () => {};
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { made, v1, v2, shelf } = await kindWith(async (received) => {
      await hanging;
      return answer(received);
    });
    assert.equal((await client.post(v2, shelf('v2', 'a', { replicas: 1 }))).status, 201);
    const { authority } = cluster.pki;
    const connect = () => Http2Client.connect(cluster.first.url, authority, tokens.admin);
    const connections = await Promise.all([connect(), connect()]);
    const answered: Http2Response[] = [];
    const asked = Array.from({ length: 140 }, async (_, i) => {
      const one = await (connections[i % 2] as Http2Client).send('GET', `${v1}/a`);
      answered.push(one);
      return one;
    });
    await eventually(() => answered.length >= 12, 'the refusal of what has no room');
    assert.equal(answered.length, 12);
    for (const { status, body } of answered) {
      assert.equal(status, 429);
      assert.match(body.toString('utf8'), /"too many requests wait for the webhook, please try again later"/);
    }
    assert.equal((await client.get(`${v2}/a`)).status, 200);
    release();
    assert.equal((await Promise.all(asked)).filter(({ status }) => status === 200).length, 128);
    for (const connection of connections) await connection.close();
    await undefine(made, [client]);
  });
});

it('a namespace ends although the conversion webhook of a kind in it is dead', async () => {
  let isDead = false;
  const { made, shelf } = await kindWith((received) => (isDead ? 'cut' : answer(received)));
  const namespaces = '/api/v1/namespaces';
  assert.equal((await client.post(namespaces, { metadata: { name: 'shelved' } })).status, 201);
  const path = (version: string) => objectsPath(made, version).replace('/default/', '/shelved/');
  assert.equal((await client.post(path('v1'), shelf('v1', 'a', { count: 1 }))).status, 201);
  isDead = true;
  assert.equal((await client.get(`${path('v1')}/a`)).status, 500);
  await client.delete(`${namespaces}/shelved`);
  await eventually(async () => (await client.get(`${namespaces}/shelved`)).status === 404, 'the end of the namespace');
  await undefine(made, [client]);
});
