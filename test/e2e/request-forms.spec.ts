import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let client: ApiClient;
const path = '/api/v1/namespaces/request-forms/configmaps';

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  const made = await client.post('/api/v1/namespaces', { metadata: { name: 'request-forms' } });
  assert.equal(made.status, 201, made.text);
});

after(() => cluster.stop());

describe('an empty dryRun', () => {
  it('asks for an ordinary write', async () => {
    for (const query of ['dryRun=', 'dryRun']) {
      const object = `${path}/real?${query}`;
      const metadata = { name: 'real' };
      assert.equal((await client.post(`${path}?${query}`, { metadata })).status, 201);
      assert.equal((await client.put(object, { metadata, data: { by: 'put' } })).status, 200);
      assert.equal((await client.get(`${path}/real`)).body.data.by, 'put');
      assert.equal((await client.patch(object, 'merge', { data: { by: 'patch' } })).status, 200);
      assert.equal((await client.get(`${path}/real`)).body.data.by, 'patch');
      assert.equal((await client.delete(object)).status, 200);
      assert.equal((await client.get(`${path}/real`)).status, 404);
    }
    const both = await client.post(`${path}?dryRun=&dryRun=All`, { metadata: { name: 'dry' } });
    assert.equal(both.status, 201);
    assert.equal((await client.get(`${path}/dry`)).status, 404);
    assert.equal((await client.post(`${path}?dryRun=Some`, { metadata: { name: 'dry' } })).status, 422);
  });
});

describe('a watch', () => {
  it('is a GET, on the paths that name it, too', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
      for (const watched of [
        'namespaces/request-forms/configmaps',
        'configmaps',
        'namespaces/request-forms/configmaps/x',
      ]) {
        const answer = await client.send(method, `/api/v1/watch/${watched}?timeoutSeconds=1`);
        assert.equal(answer.status, 405, `${method} ${watched}`);
      }
    }
    assert.equal((await client.send('HEAD', `${path}?watch=1&timeoutSeconds=1`)).status, 405);
    assert.equal((await client.get('/api/v1/watch/namespaces/none/configmaps?timeoutSeconds=1')).status, 200);
  });

  it('comes in JSON or protobuf, not in YAML', async () => {
    const refused = await client.get(`${path}?watch=1&timeoutSeconds=1`, { headers: { accept: 'application/yaml' } });
    assert.equal(refused.status, 406);
    assert.match(refused.text, /application\/json;stream=watch/);
    for (const accept of ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch', '*/*']) {
      const answer = await client.get(`${path}?watch=1&timeoutSeconds=1`, { headers: { accept } });
      assert.equal(answer.status, 200, accept);
    }
  });
});

describe('booleans in queries', () => {
  it('are known in every spelling', async () => {
    const isPretty = async (query: string) => (await client.get(`${path}?${query}`)).text.startsWith('{\n');
    for (const text of ['1', 't', 'T', 'true', 'True', 'TRUE']) {
      assert.equal(await isPretty(`pretty=${text}`), true, text);
      const watched = await client.get(`${path}?watch=${text}&timeoutSeconds=1`);
      assert.equal(watched.body?.kind, undefined, text);
    }
    for (const text of ['0', 'f', 'F', 'false', 'False', 'FALSE']) {
      assert.equal(await isPretty(`pretty=${text}`), false, text);
      const listed = await client.get(`${path}?watch=${text}&timeoutSeconds=9`);
      assert.equal(listed.body?.kind, 'ConfigMapList', text);
    }
    assert.equal(await isPretty('pretty=yes'), false);
  });

  it('indent errors as other answers', async () => {
    const missing = `${path}/none-such`;
    assert.match((await client.get(`${missing}?pretty=true`)).text, /^\{\n {2}"kind": "Status"/);
    assert.match((await client.get(missing)).text, /^\{"kind":"Status"/);
    const browser = { headers: { 'user-agent': 'Mozilla/5.0' } };
    assert.match((await client.get(missing, browser)).text, /^\{\n/);
  });
});

describe('the end of JSON', () => {
  const long = '/api/v1/namespaces/request-forms-long/configmaps';
  const as = (form: string) => `application/json;as=${form};g=meta.k8s.io;v=v1`;

  before(async () => {
    await client.post('/api/v1/namespaces', { metadata: { name: 'request-forms-long' } });
    for (let i = 0; i < 4; i++) {
      const made = await client.post(long, { metadata: { name: `c${i}` }, data: { text: 'x'.repeat(50_000) } });
      assert.equal(made.status, 201, made.text);
      assert.ok(made.text.endsWith('}\n'));
    }
  });

  it('is a newline, unless the JSON is indented', async () => {
    const paths = [
      long,
      `${long}?limit=1`,
      `${long}/c0`,
      `${long}/none-such`,
      `${long}?limit=2`,
      '/api/v1',
      '/apis',
      '/api',
    ];
    for (const each of paths) {
      // One object has no list's form, and errors are indented for clients that accept only tables.
      const isList = each === long || each.startsWith(`${long}?`);
      const accepts = isList ? ['application/json', as('Table'), as('PartialObjectMetadataList')] : ['*/*'];
      for (const accept of accepts) {
        const { text } = await client.get(each, { headers: { accept } });
        assert.match(text.slice(-3), /[^\s]\}\n$/, `${each} ${accept}`);
        assert.equal(text.indexOf('\n'), text.length - 1);
      }
      const indented = await client.get(`${each}${each.includes('?') ? '&' : '?'}pretty=true`);
      assert.match(indented.text, /^\{\n[\s\S]*\n\}$/, each);
    }
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    assert.match((await client.get('/apis', { headers: { accept } })).text, /[^\n]\n$/);
    assert.match((await client.get('/version')).text, /^\{\n {2}"[\s\S]*\n\}$/);
  });
});

describe('a scale', () => {
  it('has a table of its own', async () => {
    const labels = { a: 'b' };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    const deployments = '/apis/apps/v1/namespaces/request-forms/deployments';
    assert.equal((await client.post(deployments, { metadata: { name: 'd' }, spec })).status, 201);
    const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const scale = (await client.get(`${deployments}/d/scale`, { headers: { accept: table } })).body;
    const columns = scale.columnDefinitions.map(({ name, type }: { name: string; type: string }) => [name, type]);
    assert.deepEqual(columns, [
      ['Name', 'string'],
      ['Desired', 'integer'],
      ['Available', 'integer'],
      ['Age', 'string'],
    ]);
    assert.deepEqual(scale.rows[0].cells.slice(0, 3), ['d', 1, 0]);
    assert.deepEqual([scale.rows.length, scale.rows[0].object.kind], [1, 'PartialObjectMetadata']);
    const partial = table.replace('Table', 'PartialObjectMetadata');
    const metadata = (await client.get(`${deployments}/d/scale`, { headers: { accept: partial } })).body;
    assert.deepEqual([metadata.kind, metadata.metadata.name], ['PartialObjectMetadata', 'd']);
    const list = table.replace('Table', 'PartialObjectMetadataList');
    assert.equal((await client.get(`${deployments}/d/scale`, { headers: { accept: list } })).status, 406);
    const include = await client.get(`${deployments}/d/scale?includeObject=x`, { headers: { accept: table } });
    assert.equal(include.status, 400, include.text);
    assert.equal((await client.get(`${deployments}/d/status`, { headers: { accept: table } })).body.kind, 'Table');
  });
});
