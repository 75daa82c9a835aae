import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { controllerRevision } from '../../src/objects/apis/apps/v1/controller-revision.types.js';
import type { ApiClient } from './support/api-client.js';
import { decodeObject, encodeObject, ProtobufClient, protobuf } from './support/protobuf-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';

let cluster: TestCluster;
let client: ApiClient;

const path = '/apis/apps/v1/namespaces/exact-numbers/controllerrevisions';
const largest = '9223372036854775807';
const data = '{"a":1.0,"b":[1e3,-0,0.10],"c":{"d":9007199254740993,"e":1.5,"f":12345678901234567890123}}';

function revision(name: string, extra = ''): string {
  const head = `"apiVersion":"apps/v1","kind":"ControllerRevision"`;
  return `{${head},"metadata":{"name":"${name}"${extra}},"data":${data},"revision":${largest}}`;
}

/** As every client reads it. */
const kept = '{"a":1,"b":[1000,0,0.1],"c":{"d":9007199254740993,"e":1.5,"f":1.2345678901234568e+22}}';

/** Asserts that text of one revision, compact or indented, has the numbers as every client reads them. */
function assertExact(text: string, from = '"data":'): void {
  const compact = text.replace(/\s/g, '');
  const found = compact.slice(compact.lastIndexOf(from));
  assert.ok(found.startsWith(`"data":${kept},"revision":${largest}}`), found);
}

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  const made = await client.post('/api/v1/namespaces', { metadata: { name: 'exact-numbers' } });
  assert.equal(made.status, 201, made.text);
});

after(() => cluster.stop());

describe('numbers that JavaScript numbers can not carry', () => {
  it('come out of writes, reads, lists, tables and watches as every client reads them', async () => {
    const made = await client.send('POST', path, { raw: revision('one'), contentType: 'application/json' });
    assert.equal(made.status, 201, made.text);
    assertExact(made.text);
    assertExact((await client.get(`${path}/one`)).text);
    assertExact((await client.get(`${path}/one?pretty=true`)).text);
    assertExact((await client.get(path)).text);
    assertExact((await client.get(`${path}?fieldSelector=metadata.name%3Done`)).text);
    const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    assertExact((await client.get(`${path}?includeObject=Object`, { headers: { accept: table } })).text);
    const yaml = await client.get(`${path}/one`, { headers: { accept: 'application/yaml' } });
    assert.match(yaml.text, /\n {2}a: 1\n {2}b:\n {2}- 1000\n {2}- 0\n {2}- 0\.1\n/);
    assert.match(yaml.text, new RegExp(`\nrevision: ${largest}\n`));
    // On a busy machine the time limit may pass before the response begins.
    const watched = await eventually(
      async () => (await client.get(`${path}?watch=true&timeoutSeconds=1`)).text || undefined,
      'a watch that says something',
    );
    assertExact(watched);
  });

  it('survive updates and patches of other fields', async () => {
    const made = await client.send('POST', path, { raw: revision('two'), contentType: 'application/json' });
    assert.equal(made.status, 201, made.text);
    const patches: readonly (readonly [string, string])[] = [
      ['application/merge-patch+json', '{"metadata":{"labels":{"a":"1"}}}'],
      ['application/strategic-merge-patch+json', '{"metadata":{"labels":{"b":"2"}}}'],
      [
        'application/json-patch+json',
        `[{"op":"test","path":"/revision","value":${largest}},{"op":"test","path":"/data/a","value":1},` +
          '{"op":"add","path":"/metadata/labels/c","value":"3"}]',
      ],
    ];
    for (const [contentType, raw] of patches) {
      const patched = await client.send('PATCH', `${path}/two`, { raw, contentType });
      assert.equal(patched.status, 200, patched.text);
      assertExact(patched.text);
    }
    const labels = ',"labels":{"d":"4"}';
    const put = await client.send('PUT', `${path}/two`, {
      raw: revision('two', labels),
      contentType: 'application/json',
    });
    assert.equal(put.status, 200, put.text);
    assertExact(put.text);
    const version = put.body.metadata.resourceVersion;
    const again = await client.send('PUT', `${path}/two`, {
      raw: revision('two', labels),
      contentType: 'application/json',
    });
    assert.equal(again.body.metadata.resourceVersion, version);
  });

  it('are refused where they do not fit', async () => {
    const raw = revision('three').replace(largest, '9223372036854775808');
    const refused = await client.send('POST', path, { raw, contentType: 'application/json' });
    assert.equal(refused.status, 400, refused.text);
    assert.match(
      refused.body.message,
      /json: cannot unmarshal number 9223372036854775808 into Go struct field ControllerRevision\.revision of type int64$/,
    );
  });

  it('are the same in YAML, applied objects and protobuf', async () => {
    const yaml = `metadata: {name: four}\nrevision: ${largest}\ndata: {c: 9007199254740993}\n`;
    const made = await client.send('POST', path, { raw: yaml, contentType: 'application/yaml' });
    assert.equal(made.status, 201, made.text);
    assert.match(made.text, new RegExp(`"c":9007199254740993},"revision":${largest}`));

    const apply = { raw: revision('five'), contentType: 'application/apply-patch+yaml' };
    const applied = await client.send('PATCH', `${path}/five?fieldManager=tester`, apply);
    assert.equal(applied.status, 201, applied.text);
    const repeated = await client.send('PATCH', `${path}/five?fieldManager=tester`, apply);
    assert.equal(repeated.body.metadata.resourceVersion, applied.body.metadata.resourceVersion);
    assert.ok(applied.text.includes(largest) && applied.text.includes('9007199254740993'), applied.text);

    const binary = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);
    const read = await binary.send('GET', `${path}/one`, { headers: { accept: protobuf } });
    const object = decodeObject(controllerRevision, read.bytes);
    assert.equal(object.revision, BigInt(largest));
    assert.equal(JSON.stringify(object.data), kept);
    const copy = { ...object, metadata: { name: 'six' } };
    const body = encodeObject(controllerRevision, copy);
    const sent = await binary.send('POST', path, { body, headers: { 'content-type': protobuf } });
    assert.equal(sent.status, 201);
    assertExact((await client.get(`${path}/six`)).text);
  });

  it('do not stop a pod from being deleted', async () => {
    const pods = '/api/v1/namespaces/exact-numbers/pods';
    const spec = `{"nodeName":"n","terminationGracePeriodSeconds":${largest},"containers":[{"name":"c","image":"i"}]}`;
    const made = await client.send('POST', pods, {
      raw: `{"metadata":{"name":"patient"},"spec":${spec}}`,
      contentType: 'application/json',
    });
    assert.equal(made.status, 201, made.text);
    const deleted = await client.send('DELETE', `${pods}/patient`, {});
    assert.equal(deleted.status, 200, deleted.text);
    assert.match(deleted.body.metadata.deletionTimestamp, /^8\d{3}-/);
    const gone = await client.send('DELETE', `${pods}/patient?gracePeriodSeconds=0`, {});
    assert.equal(gone.status, 200, gone.text);
  });
});
