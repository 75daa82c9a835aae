import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeEnvelope } from '../../src/base/machinery/schema/protobuf/index.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { protobuf } from './support/protobuf-client.js';
import { sampleKinds } from './support/sample-objects.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

const namespace = 'unnamed';
const samples = sampleKinds(namespace);

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: namespace } })).status, 201);
  for (const { path, make } of samples) {
    const made = await client.post(path, make('kept'));
    assert.equal(made.status, 201, made.text);
  }
});

after(() => cluster.stop());

function assertUnnamed(answer: ApiResponse, name: string, what: string): void {
  assert.equal(answer.status, 400, `${what}: ${answer.text}`);
  const message = `the name of the object (${name} based on URL) was undeterminable: name must be provided`;
  assert.equal(answer.body.message, message, what);
}

interface DiscoveredResource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/**
 * Paths of one object of every resource and subresource that takes `verb`, whether the object exists or not. Bodies of proxy
 * paths are for other servers.
 */
async function objectPaths(verb: string, name: string): Promise<string[]> {
  const { groups } = (await client.get('/apis')).body as {
    groups: readonly { versions: readonly { groupVersion: string }[] }[];
  };
  const bases = ['/api/v1', ...groups.flatMap((g) => g.versions.map((v) => `/apis/${v.groupVersion}`))];
  const paths: string[] = [];
  for (const base of bases) {
    const { resources } = (await client.get(base)).body as { resources: readonly DiscoveredResource[] };
    for (const resource of resources.filter((r) => r.verbs.includes(verb))) {
      const [plural, subresource] = resource.name.split('/');
      if (subresource === 'proxy') continue;
      const scope = resource.namespaced ? `${base}/namespaces/${namespace}` : base;
      paths.push([scope, plural, name, ...(subresource === undefined ? [] : [subresource])].join('/'));
    }
  }
  return paths;
}

describe('PUT of a body without a name', () => {
  it('is refused for every kind and subresource', async () => {
    const paths = await objectPaths('update', 'some');
    for (const part of ['/secrets/some', '/namespaces/some', '/finalize', '/status', '/scale', '/approval']) {
      assert.ok(
        paths.some((path) => path.endsWith(part)),
        `discovery lists ${part}`,
      );
    }
    for (const path of paths) {
      for (const body of [{}, { metadata: {} }, { metadata: { name: '' } }]) {
        assertUnnamed(await client.put(path, body), 'some', `${path} ${JSON.stringify(body)}`);
      }
    }
  });

  it('leaves the object unchanged', async () => {
    for (const { path, type } of samples) {
      const object = `${path}/kept`;
      const { text } = await client.get(object);
      assertUnnamed(await client.put(object, {}), 'kept', object);
      assertUnnamed(await client.put(`${object}?dryRun=All`, {}), 'kept', object);
      assertUnnamed(await client.send('PUT', object, { raw: 'null' }), 'kept', `${object} null`);
      const yaml = await client.send('PUT', object, { raw: '{}', contentType: 'application/yaml' });
      assertUnnamed(yaml, 'kept', `${object} as YAML`);
      const { kind } = type.kind;
      const apiVersion = (JSON.parse(text) as { apiVersion: string }).apiVersion;
      const raw = encodeEnvelope(apiVersion, kind, new Uint8Array());
      const bytes = await client.send('PUT', object, { raw: Buffer.from(raw), contentType: protobuf });
      assertUnnamed(bytes, 'kept', `${object} as protobuf`);
      assert.equal((await client.get(object)).text, text, object);
    }
  });

  it('is refused before anybody looks for the object', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/none`;
    assertUnnamed(await client.put(path, {}), 'none', path);
    assert.equal((await client.put(path, { metadata: { name: 'none' } })).status, 404);
  });
});

describe('PUT of another object', () => {
  it('is refused', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/kept`;
    const { text, body: live } = await client.get(path);
    const metadata = { name: 'kept' };
    const cases: readonly (readonly [unknown, number, RegExp])[] = [
      [{ metadata: { name: 'other' } }, 400, /\(other\) does not match the name on the URL \(kept\)/],
      [
        { metadata: { ...metadata, namespace: 'other' } },
        400,
        /^the namespace of the provided object does not match the namespace sent on the request$/,
      ],
      [
        { kind: 'Secret', apiVersion: 'v1', metadata },
        400,
        /cannot be handled as a ConfigMap: converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/,
      ],
      [{ kind: 'Foo', apiVersion: 'v1', metadata }, 400, /: no kind "Foo" is registered for version "v1" in scheme/],
      [{ kind: 'Secret', apiVersion: 'apps/v1', metadata }, 400, /: no kind "Secret" is registered for version "apps/],
      [{ kind: 'ConfigMap', apiVersion: 'v2', metadata }, 400, /cannot be handled as a ConfigMap/],
      [{ kind: 'ConfigMapList', apiVersion: 'v1', items: [live] }, 400, /cannot be handled as a ConfigMap/],
      [{ kind: 'List', apiVersion: 'v1', items: [live] }, 400, /cannot be handled as a ConfigMap/],
      [{ metadata: { ...metadata, uid: 'other' } }, 409, /UID in precondition: other/],
      [[], 400, /json: cannot unmarshal (array|string|number) into Go value/],
      ['', 400, /json: cannot unmarshal (array|string|number) into Go value/],
      [0, 400, /json: cannot unmarshal (array|string|number) into Go value/],
    ];
    for (const [body, status, message] of cases) {
      const answer = await client.put(path, body);
      assert.equal(answer.status, status, `${JSON.stringify(body)}: ${answer.text}`);
      assert.match(answer.body.message, message);
    }
    assert.equal((await client.send('PUT', path, { raw: '' })).status, 400);
    assert.equal((await client.get(path)).text, text);
  });
});

describe('PATCH', () => {
  const apply = 'application/apply-patch+yaml';

  it('that takes the name away is refused', async () => {
    for (const { path } of samples) {
      const object = `${path}/kept`;
      const { text } = await client.get(object);
      for (const body of [{ metadata: { name: null } }, { metadata: { name: '' } }, { metadata: null }]) {
        const what = `${object} ${JSON.stringify(body)}`;
        assertUnnamed(await client.patch(object, 'merge', body), 'kept', what);
        if (body.metadata !== null) assertUnnamed(await client.patch(object, 'strategic-merge', body), 'kept', what);
      }
      const remove = [{ op: 'remove', path: '/metadata/name' }];
      assertUnnamed(await client.patch(object, 'json', remove), 'kept', `${object} remove`);
      assert.equal((await client.get(object)).text, text, object);
    }
    const scale = `/apis/apps/v1/namespaces/${namespace}/deployments/kept/scale`;
    assertUnnamed(await client.patch(scale, 'merge', { metadata: { name: null } }), 'kept', scale);
  });

  it('that removes or leaves out fields that the server knows changes nothing', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/kept`;
    const { text } = await client.get(path);
    const merges = [
      {},
      { kind: null },
      { apiVersion: null },
      { metadata: { namespace: null } },
      { metadata: { uid: null } },
      { metadata: { creationTimestamp: null } },
    ];
    for (const body of merges) {
      const answer = await client.patch(path, 'merge', body);
      assert.equal(answer.status, 200, `${JSON.stringify(body)}: ${answer.text}`);
    }
    assert.equal((await client.patch(path, 'json', [])).status, 200);
    assert.equal((await client.patch(path, 'strategic-merge', {})).status, 200);
    assert.equal((await client.get(path)).text, text);
  });

  it('that is none is refused', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/kept`;
    for (const [type, bodies] of [
      ['merge', [null, [], '', 0]],
      ['strategic-merge', [[], '', 0]],
      ['json', [{}, '', 0]],
    ] as const) {
      for (const body of bodies) {
        assert.equal((await client.patch(path, type, body)).status, 400, `${type} ${JSON.stringify(body)}`);
      }
    }
    // As in release 1.37, these two change nothing.
    const { text } = await client.get(path);
    for (const type of ['strategic-merge', 'json'])
      assert.equal((await client.patch(path, type, null)).status, 200, type);
    assert.equal((await client.get(path)).text, text);
  });

  it('that applies a nameless object makes none', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/new`;
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
    for (const body of [kind, { ...kind, metadata: {} }, { ...kind, metadata: { name: '' } }]) {
      const answer = await client.send('PATCH', `${path}?fieldManager=m`, { body, contentType: apply });
      assertUnnamed(answer, 'new', JSON.stringify(body));
    }
    assert.equal((await client.get(path)).status, 404);
  });
});
