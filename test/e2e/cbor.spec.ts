import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { encodeCbor } from '../../src/base/machinery/cbor/index.js';
import type { ApiClient, WatchEvent } from './support/api-client.js';
import { CborClient, cbor, preferred } from './support/cbor-client.js';
import { gears, gearsPath, servesGears } from './support/gears.js';
import { TestCluster, tokens } from './support/test-cluster.js';

let cluster: TestCluster;
let json: ApiClient;
let client: CborClient;
let other: CborClient;

const namespace = '/api/v1/namespaces/default';
const maps = `${namespace}/configmaps`;
const secrets = `${namespace}/secrets`;
const as = (form: string) => `${cbor};as=${form};g=meta.k8s.io;v=v1`;

before(async () => {
  cluster = await TestCluster.start({
    servers: 2,
    controllers: true,
    accounts: false,
    flags: ['--feature-gates=CBORServingAndStorage=true'],
  });
  json = cluster.first.client;
  const [first, second] = cluster.servers.map(({ url }) => new CborClient(url, cluster.pki.authority, tokens.admin));
  client = first as CborClient;
  other = second as CborClient;
});

after(() => cluster.stop());

describe('objects in CBOR', () => {
  it('are created, read, replaced and deleted', async () => {
    const created = await client.ask('POST', maps, {
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one' },
        data: { a: 'é' },
        binaryData: { b: 'AQID' },
      },
    });
    assert.equal(created.status, 201);
    const plain = (await json.get(`${maps}/one`)).body;
    assert.deepEqual([created.body, plain.data, plain.binaryData], [plain, { a: 'é' }, { b: 'AQID' }]);
    // The bytes themselves, behind the tag for base64.
    assert.ok(created.bytes.includes(Buffer.from('4162d643010203', 'hex')));
    const replaced = await other.ask('PUT', `${maps}/one`, { body: { ...created.body, data: { a: 'b' } } });
    assert.equal(replaced.status, 200);
    assert.deepEqual((await client.ask('GET', `${maps}/one`)).body, replaced.body);
    const table = await client.ask('GET', `${maps}/one`, { accept: as('Table') });
    assert.equal(table.body.rows[0].cells[0], 'one');
    const partial = await client.ask('GET', `${maps}/one`, { accept: as('PartialObjectMetadata') });
    assert.deepEqual([partial.body.kind, partial.body.metadata], ['PartialObjectMetadata', replaced.body.metadata]);
    const deleted = await client.ask('DELETE', `${maps}/one`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: created.body.metadata.uid } },
    });
    assert.deepEqual([deleted.status, deleted.body.status], [200, 'Success']);
  });

  it('may have their bytes as bytes or as base64, and strings in both forms', async () => {
    const item = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const body = Buffer.concat([
      item('a4'),
      encodeCbor('kind'),
      encodeCbor('Secret'),
      encodeCbor('metadata'),
      item('a1 64 6e616d65 65 6279746573'),
      encodeCbor('data'),
      // {"raw": 22(h'010203'), "text": "AQID", 'bytes': 'AQID'}
      item('a3 63 726177 d6 43 010203 64 74657874 64 41514944 45 6279746573 44 41514944'),
      encodeCbor('stringData'),
      item('bf 61 61 7f 61 78 61 79 ff ff'),
    ]);
    const { status, body: made } = await client.ask('POST', secrets, { body });
    assert.equal(status, 201, JSON.stringify(made));
    assert.deepEqual(made.data, { raw: 'AQID', text: 'AQID', bytes: 'AQID', a: 'eHk=' });
  });

  it('are refused with a Status in CBOR', async () => {
    const refused = (hex: string) => client.ask('POST', maps, { body: Buffer.from(hex, 'hex') });
    const cases: [string, RegExp][] = [
      ['', /unexpected EOF/],
      ['d9d9f7a1446b696e6449436f6e6669674d617000', /extraneous data/],
      ['a1446b696e64', /unexpected EOF/],
      ['a1446b696e6443506f64', /converting \(v1\.Pod\) to \(core\.ConfigMap\): unknown conversion/],
      ['a10102', /not a string/],
      ['f97e00', /NaN/],
      ['80', /cbor: the body is an array, not an object/],
      ['a1646461746101', /cannot be handled as a ConfigMap/],
      ['a2616101616102', /found duplicate map key "a"/],
      ['81'.repeat(50_000), /max depth/],
    ];
    for (const [hex, message] of cases) {
      const { status, body } = await refused(hex);
      assert.deepEqual([status, body.kind, body.reason], [400, 'Status', 'BadRequest'], hex.slice(0, 40));
      assert.match(body.message, message);
    }
    const missing = await client.ask('GET', `${maps}/none`);
    assert.deepEqual([missing.status, missing.body.reason], [404, 'NotFound']);
    const unknown = { kind: 'ConfigMap', metadata: { name: 'x' }, dta: {} };
    const strict = await client.ask('POST', `${maps}?fieldValidation=Strict&dryRun=All`, { body: unknown });
    assert.deepEqual(
      [strict.status, strict.body.message],
      [400, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"'],
    );
    const options = await client.ask('DELETE', `${maps}/none`, { body: Buffer.from('f7', 'hex') });
    assert.equal(options.status, 400);
    // A Status is JSON for clients that don't read CBOR, whatever they sent.
    const plain = await json.post(maps, undefined, { raw: Buffer.from('80', 'hex'), contentType: cbor });
    assert.deepEqual([plain.status, plain.headers['content-type']], [400, 'application/json']);
  });

  it('are refused with a Status in JSON where only another form of the object is accepted, which a Status has not', async () => {
    const form = async (accept: string) => {
      const { status, headers, body } = await json.get(`${maps}/none`, { headers: { accept } });
      return [status, headers['content-type'], body.kind];
    };
    const yaml = 'application/yaml;as=Table;g=meta.k8s.io;v=v1';
    const protobuf = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    for (const accept of [
      as('Table'),
      as('PartialObjectMetadata'),
      yaml,
      protobuf,
      `${as('Table')},application/json`,
    ]) {
      assert.deepEqual(await form(accept), [404, 'application/json', 'Status'], accept);
    }
    // A client that accepts CBOR for anything gets errors in CBOR.
    const answered = await client.ask('GET', `${maps}/none`, { accept: `${as('Table')},${cbor}` });
    assert.deepEqual([answered.status, answered.contentType, answered.body.kind], [404, cbor, 'Status']);
  });

  it('may be of custom kinds, whose numbers stay what they are', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    assert.equal((await client.ask('POST', definitions, { body: gears })).status, 201);
    await servesGears(cluster);
    const gear = (name: string, spec: object) => ({
      apiVersion: 'cbor.example/v1',
      kind: 'Gear',
      metadata: { name },
      spec,
    });
    const made = await client.ask('POST', gearsPath, {
      body: gear('one', { size: 1.5, teeth: 2n ** 53n, note: 'AQID' }),
    });
    assert.equal(made.status, 201);
    assert.deepEqual(made.body.spec, { note: 'AQID', size: 1.5, teeth: 2n ** 53n });
    // 1.0 as a floating-point number.
    const body = Buffer.concat([
      Buffer.from('a4', 'hex'),
      ...['kind', 'Gear', 'apiVersion', 'cbor.example/v1', 'metadata', { name: 'two' }, 'spec'].map((part) =>
        encodeCbor(part),
      ),
      Buffer.from('a14473697a65f93c00', 'hex'),
    ]);
    const whole = await client.ask('POST', gearsPath, { body });
    assert.deepEqual([whole.status, String(whole.body.spec.size)], [201, '1']);
    const list = await other.ask('GET', gearsPath);
    assert.deepEqual(
      list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['one', 'two'],
    );
    // Items of custom kinds contain their kind, and events that are made of cached items contain it once.
    const identity = ({ kind, apiVersion }: { kind?: string; apiVersion?: string }) => [kind, apiVersion];
    assert.deepEqual(list.body.items.map(identity), [
      ['Gear', 'cbor.example/v1'],
      ['Gear', 'cbor.example/v1'],
    ]);
    for await (const { type, object } of other.events(`${gearsPath}?watch=true`)) {
      const { items } = list.body;
      assert.deepEqual([type, object], ['ADDED', items.find((item: object) => isDeepStrictEqual(item, object))]);
      if (object.metadata.name === 'two') break;
    }
    const table = await other.ask('GET', gearsPath, { accept: as('Table') });
    assert.equal(table.body.rows.length, 2);
  });
});

describe('lists in CBOR', () => {
  before(async () => {
    for (const name of ['list-a', 'list-b', 'list-c']) {
      const body = { kind: 'Secret', metadata: { name, labels: { of: 'lists' } }, data: { x: 'AQID' } };
      assert.equal((await client.ask('POST', secrets, { body })).status, 201);
    }
  });

  const selected = `${secrets}?labelSelector=of%3Dlists`;

  it('show what lists in JSON show, in every form, twice', async () => {
    const forms = ['', ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', ';as=Table;g=meta.k8s.io;v=v1'];
    const queries = ['', '&limit=2', '&includeObject=Object', '&includeObject=None'];
    const shown = (list: { items?: unknown; rows?: unknown; kind: string; columnDefinitions?: unknown }) =>
      // Ages increase.
      JSON.parse(
        JSON.stringify([list.kind, list.columnDefinitions, list.items ?? list.rows]).replace(
          /"(?:\d+m)?\d+[sm]"/g,
          '"age"',
        ),
      );
    for (const form of forms) {
      for (const query of queries) {
        const plain = await json.get(selected + query, { headers: { accept: `application/json${form}` } });
        for (const asked of [client, client, other]) {
          const list = await asked.ask('GET', selected + query, { accept: cbor + form });
          assert.deepEqual(shown(list.body), shown(plain.body), form + query);
          assert.equal(query === '&limit=2', list.body.metadata.continue !== undefined);
        }
      }
    }
  });

  it('have the bytes of their objects as bytes, in tables too', async () => {
    for (const accept of [cbor, as('Table')]) {
      const { bytes } = await client.ask('GET', `${selected}&includeObject=Object`, { accept });
      assert.ok(bytes.includes(Buffer.from('4178d643010203', 'hex')), accept);
    }
  });

  it('are no single objects', async () => {
    for (const [path, form] of [
      [secrets, 'PartialObjectMetadata'],
      [`${secrets}/list-a`, 'PartialObjectMetadataList'],
    ] as const) {
      const { status, bytes } = await client.send('GET', path, { accept: as(form) });
      assert.equal(status, 406, bytes.toString('latin1'));
    }
    assert.equal((await json.get(secrets, { headers: { accept: 'application/cbor-seq' } })).status, 406);
  });

  it('of discovery are there as well', async () => {
    assert.equal((await client.ask('GET', '/apis')).body.kind, 'APIGroupList');
    assert.equal((await client.ask('GET', '/apis/apps/v1')).body.groupVersion, 'apps/v1');
  });
});

describe('watches in CBOR', () => {
  const make = (name: string, data: object) => ({
    kind: 'Secret',
    metadata: { name, labels: { of: 'watches' } },
    data,
  });
  const watched = (query: string) => `${secrets}?watch=1&labelSelector=of%3Dwatches&${query}`;

  /** The first events of a watch, with their count. */
  async function take(events: AsyncGenerator<WatchEvent>, count: number): Promise<WatchEvent[]> {
    const taken: WatchEvent[] = [];
    for await (const event of events) if (taken.push(event) === count) break;
    return taken;
  }

  it('show every change, to both processes, as watches in JSON do', { timeout: 60_000 }, async () => {
    const first = await client.ask('POST', secrets, { body: make('watched', { x: 'AQID' }) });
    const from = `resourceVersion=${first.body.metadata.resourceVersion}`;
    const made = await client.ask('POST', secrets, { body: make('later', { x: 'AQID' }) });
    const changed = await other.ask('PUT', `${secrets}/later`, { body: { ...made.body, data: { x: 'BA==' } } });
    const gone = await client.ask('PATCH', `${secrets}/later`, {
      body: Buffer.from('{"metadata":{"labels":{"of":null}}}'),
      contentType: 'application/merge-patch+json',
    });
    for (const asked of [client, other, client]) {
      const events = await take(asked.events(watched(from)), 3);
      assert.deepEqual(
        events.map(({ type }) => type),
        ['ADDED', 'MODIFIED', 'DELETED'],
      );
      assert.deepEqual([events[0]?.object, events[1]?.object], [made.body, changed.body]);
      // The last state that the watch selected.
      assert.equal(events[2]?.object.metadata.resourceVersion, gone.body.metadata.resourceVersion);
      assert.deepEqual(events[2]?.object.data, { x: 'BA==' });
    }
    const [row] = await take(client.events(watched(from), as('Table')), 1);
    assert.deepEqual([row?.object.kind, row?.object.rows[0].cells[0]], ['Table', 'later']);
    const [partial] = await take(client.events(watched(from), as('PartialObjectMetadata')), 1);
    assert.deepEqual([partial?.object.kind, partial?.object.data], ['PartialObjectMetadata', undefined]);
  });

  it('begin with the state, and say where it ends', { timeout: 60_000 }, async () => {
    await client.ask('POST', secrets, { body: make('state', { x: 'AQID' }) });
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const expected = (await client.ask('GET', `${secrets}/state`)).body;
    const path = `${watched(initial)}&fieldSelector=metadata.name%3Dstate`;
    for (const asked of [client, client, other]) {
      const [added, end] = await take(asked.events(path), 2);
      assert.deepEqual(added, { type: 'ADDED', object: expected });
      assert.deepEqual([end?.type, end?.object.kind], ['BOOKMARK', 'Secret']);
      assert.equal(end?.object.metadata.annotations['k8s.io/initial-events-end'], 'true');
      const [partial] = await take(asked.events(path, as('PartialObjectMetadata')), 1);
      const { metadata } = expected;
      assert.deepEqual(partial?.object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
    }
  });
});

describe('applied configurations in CBOR', () => {
  const applied = 'application/apply-patch+cbor';
  const config = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data });
  const path = `${maps}/applied?fieldManager=m`;

  it('create and change objects, and conflict', async () => {
    const made = await client.ask('PATCH', path, { body: config({ a: '1' }), contentType: applied });
    assert.deepEqual([made.status, made.body.data], [201, { a: '1' }]);
    assert.equal(made.body.metadata.managedFields[0].operation, 'Apply');
    const changed = await other.ask('PATCH', path, { body: config({ b: '2' }), contentType: applied });
    assert.deepEqual([changed.status, changed.body.data], [200, { b: '2' }]);
    const conflicting = { body: config({ b: '3' }), contentType: applied };
    const conflict = await client.ask('PATCH', `${maps}/applied?fieldManager=n`, conflicting);
    assert.deepEqual([conflict.status, conflict.body.reason], [409, 'Conflict']);
  });

  it('are refused when they are none', async () => {
    for (const [hex, message] of [
      ['80', /^error decoding CBOR: the applied configuration must be an object$/],
      ['a2616101616102', /^error decoding CBOR: cbor: found duplicate map key "a"$/],
    ] as const) {
      const { status, body } = await client.ask('PATCH', path, { body: Buffer.from(hex, 'hex'), contentType: applied });
      assert.equal(status, 400);
      assert.match(body.message, message);
    }
  });

  it('are the only patches in CBOR', async () => {
    const { status, body } = await client.ask('PATCH', `${maps}/applied`, { body: config({}) });
    assert.deepEqual([status, body.reason], [415, 'UnsupportedMediaType']);
  });
});

it('clients that prefer CBOR and send JSON get CBOR', async () => {
  const body = Buffer.from('{"metadata":{"name":"mixed"}}');
  const made = await client.ask('POST', maps, { body, contentType: 'application/json', accept: preferred });
  assert.deepEqual([made.status, made.body.metadata.name], [201, 'mixed']);
});
