import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { decode, type KindType } from '../../src/base/machinery/schema/index.js';
import { scale } from '../../src/objects/apis/autoscaling/v1/scale.types.js';
import { lease } from '../../src/objects/apis/coordination/v1/lease.types.js';
import { configMap } from '../../src/objects/apis/core/v1/config-map.types.js';
import { node } from '../../src/objects/apis/core/v1/node.types.js';
import { pod } from '../../src/objects/apis/core/v1/pod.types.js';
import { apiGroupList } from '../../src/objects/apis/meta/v1/discovery.types.js';
import { listKind } from '../../src/objects/apis/meta/v1/list-kind.types.js';
import { partialObjectMetadata } from '../../src/objects/apis/meta/v1/object-meta.types.js';
import { deleteOptions } from '../../src/objects/apis/meta/v1/options.types.js';
import { partialObjectMetadataList } from '../../src/objects/apis/meta/v1/partial-object-metadata-list.types.js';
import { status as statusType } from '../../src/objects/apis/meta/v1/status.types.js';
import type { ApiClient } from './support/api-client.js';
import { decodeObject, encodeObject, ProtobufClient, protobuf } from './support/protobuf-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { type TestCluster, tokens } from './support/test-cluster.js';

let cluster: TestCluster;
let binary: ProtobufClient;
let json: ApiClient;

const namespace = '/api/v1/namespaces/protobuf';

interface Sample {
  readonly type: KindType;
  readonly path: string;
  readonly make: (name: string) => object;
}

const samples: readonly Sample[] = [
  {
    type: pod,
    path: `${namespace}/pods`,
    make: (name) => ({
      metadata: { name, labels: { app: 'x', tier: 'y' }, annotations: { big: 'ä'.repeat(300) } },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'example/image:1',
            resources: { requests: { cpu: '250m', memory: '64Mi' } },
            ports: [{ containerPort: 80 }],
            readinessProbe: { httpGet: { path: '/', port: 'web' }, timeoutSeconds: 3 },
            livenessProbe: { tcpSocket: { port: 80 } },
          },
        ],
        tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
        terminationGracePeriodSeconds: 0,
      },
    }),
  },
  {
    type: node,
    path: '/api/v1/nodes',
    make: (name) => ({
      metadata: { name },
      spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'], taints: [{ key: 'k', effect: 'NoSchedule' }] },
    }),
  },
  {
    type: lease,
    path: '/apis/coordination.k8s.io/v1/namespaces/protobuf/leases',
    make: (name) => ({
      metadata: { name },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2030-01-02T03:04:05.678901Z' },
    }),
  },
];

before(async () => {
  cluster = await sharedCluster('plain');
  json = cluster.first.client;
  binary = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);
  const made = await json.post('/api/v1/namespaces', { metadata: { name: 'protobuf' } });
  assert.equal(made.status, 201, made.text);
});

after(() => cluster.stop());

it('a get shows the newest state in the same bytes, whether or not the objects are in memory', async () => {
  const path = `${namespace}/configmaps`;
  assert.equal((await json.post(path, { metadata: { name: 'kept' }, data: { key: 'one' } })).status, 201);
  // A resource comes into memory with its first list.
  const bytes = async () => {
    const found = await binary.send('GET', `${path}/kept`);
    assert.equal(found.status, 200);
    return found.bytes;
  };
  const before = await bytes();
  assert.equal((await json.get(`${path}?limit=1`)).status, 200);
  await json.get('/api/v1/configmaps');
  for (let i = 0; i < 3; i++) assert.ok((await bytes()).equals(before));
  const patched = await json.patch(`${path}/kept`, 'merge', { data: { key: 'two' } });
  const now = decodeObject(configMap, await bytes());
  assert.equal(now.data?.key, 'two');
  assert.equal(now.metadata?.resourceVersion, patched.body.metadata.resourceVersion);
});

/** The canonical form of a server's JSON response. */
function canonical(type: KindType, value: unknown): unknown {
  const { value: decoded, unknownFields } = decode(type, value);
  assert.deepEqual(unknownFields, []);
  return decoded;
}

for (const { type, path, make } of samples) {
  describe(`${type.kind.kind} in protobuf`, () => {
    const body = (name: string) => encodeObject(type, canonical(type, make(name)) as object);

    it('is created, read, updated and deleted, equal to its JSON', async () => {
      const created = await binary.send('POST', path, { body: body('a') });
      assert.equal(created.status, 201, created.bytes.toString('latin1'));
      assert.equal(created.headers['content-type'], protobuf);
      const inJson = await cluster.second.client.get(`${path}/a`);
      assert.deepEqual(decodeObject(type, created.bytes), inJson.body);
      const read = await binary.send('GET', `${path}/a`);
      assert.deepEqual(decodeObject(type, read.bytes), inJson.body);

      const changed = decodeObject(type, read.bytes);
      changed.metadata.labels = { changed: 'yes' };
      const updated = await binary.send('PUT', `${path}/a`, { body: encodeObject(type, changed) });
      assert.equal(updated.status, 200, updated.bytes.toString('latin1'));
      assert.deepEqual(decodeObject(type, updated.bytes), (await json.get(`${path}/a`)).body);

      // Request and response have their formats independently.
      const mixed = await binary.send('POST', path, { body: body('b'), accept: 'application/json' });
      assert.equal(mixed.headers['content-type'], 'application/json');
      assert.equal(JSON.parse(mixed.bytes.toString()).metadata.name, 'b');

      const options = encodeObject(deleteOptions, { kind: 'DeleteOptions', gracePeriodSeconds: 0 } as object);
      for (const name of ['a', 'b']) {
        const deleted = await binary.send('DELETE', `${path}/${name}`, { body: options });
        assert.equal(deleted.status, 200, deleted.bytes.toString('latin1'));
      }
      assert.equal((await json.get(`${path}/a`)).status, 404);
    });

    it('is listed whole, in chunks and as metadata', async () => {
      const names = Array.from({ length: 7 }, (_, i) => `list-${i}`);
      for (const name of names) assert.equal((await binary.send('POST', path, { body: body(name) })).status, 201);
      const listType = listKind(type as KindType<{ metadata: object }>);

      const whole = await binary.send('GET', path);
      assert.equal(whole.headers['content-type'], protobuf);
      const list = decodeObject(listType, whole.bytes);
      assert.equal(list.kind, `${type.kind.kind}List`);
      // There may be writes in between, so both lists are requested at one version.
      const same = `${path}?resourceVersion=${list.metadata.resourceVersion}&resourceVersionMatch=Exact`;
      assert.deepEqual(canonical(listType, (await json.get(same)).body), list);
      assert.equal(list.items.length, 7);

      const seen: string[] = [];
      let token = '';
      do {
        const chunk = decodeObject(listType, (await binary.send('GET', `${path}?limit=3&continue=${token}`)).bytes);
        for (const item of chunk.items) seen.push(item.metadata.name);
        token = chunk.metadata.continue ?? '';
      } while (token !== '');
      assert.deepEqual(seen, names);

      const accept = `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
      const partial = await binary.send('GET', path, { accept });
      const metadata = decodeObject(partialObjectMetadataList, partial.bytes);
      assert.equal(metadata.kind, 'PartialObjectMetadataList');
      assert.equal(metadata.apiVersion, 'meta.k8s.io/v1');
      const metadataOf = (item: { metadata: object }) => item.metadata;
      assert.deepEqual(metadata.items.map(metadataOf), list.items.map(metadataOf));

      const gone = await binary.send('DELETE', `${path}?gracePeriodSeconds=0`);
      assert.equal(decodeObject(listType, gone.bytes).items.length, 7);
      assert.deepEqual((await json.get(path)).body.items, []);
    });

    it('is watched', async () => {
      const { metadata } = decodeObject(
        listKind(type as KindType<{ metadata: object }>),
        (await binary.send('GET', path)).bytes,
      );
      const watch = binary.watch(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`);
      const first = watch.next();
      const created = (await json.post(path, make('seen'))).body;
      const added = (await first).value;
      assert.equal(added?.contentType, `${protobuf};stream=watch`);
      assert.equal(added?.type, 'ADDED');
      assert.deepEqual(decodeObject(type, added.object), created);
      const patched = await json.patch(`${path}/seen`, 'merge', { metadata: { labels: { x: 'y' } } });
      const modified = (await watch.next()).value;
      assert.equal(modified?.type, 'MODIFIED');
      assert.deepEqual(decodeObject(type, modified.object), patched.body);
      await json.delete(`${path}/seen`, { gracePeriodSeconds: 0 });
      let deleted = (await watch.next()).value;
      if (type.kind.kind === 'Pod') {
        assert.equal(deleted?.type, 'MODIFIED');
        deleted = (await watch.next()).value;
      }
      assert.equal(deleted?.type, 'DELETED');
      assert.equal(decodeObject(type, deleted.object).metadata.name, 'seen');
      await watch.return(undefined);
    });
  });
}

describe('answers in protobuf', () => {
  it('are errors too, in the form the client reads', async () => {
    const path = `${namespace}/pods/none`;
    const missing = await binary.send('GET', path);
    assert.equal(missing.status, 404);
    assert.equal(missing.headers['content-type'], protobuf);
    const expected = (await json.get(path)).body;
    assert.deepEqual(decodeObject(statusType, missing.bytes), expected);
    assert.equal(
      (await binary.send('GET', path, { accept: `${protobuf},application/json` })).headers['content-type'],
      protobuf,
    );
    const preferred = await binary.send('GET', path, { accept: `application/json,${protobuf}` });
    assert.deepEqual(JSON.parse(preferred.bytes.toString()), expected);
    const anonymous = new ProtobufClient(cluster.first.url, cluster.pki.authority, 'nonsense');
    const refused = await anonymous.send('GET', path);
    assert.equal(refused.status, 401);
    assert.equal(decodeObject(statusType, refused.bytes).reason, 'Unauthorized');
  });

  it('are metadata of one object', async () => {
    const accept = `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`;
    const answer = await binary.send('GET', namespace, { accept });
    const object = decodeObject(partialObjectMetadata, answer.bytes);
    assert.equal(object.kind, 'PartialObjectMetadata');
    assert.equal(object.metadata.name, 'protobuf');
  });

  it('are discovery documents', async () => {
    const answer = await binary.send('GET', '/apis');
    const groups = decodeObject(apiGroupList, answer.bytes).groups.map((g: { name: string }) => g.name);
    assert.ok(groups.includes('apps'), groups.join());
  });

  it('are no tables', async () => {
    const table = `${protobuf};as=Table;g=meta.k8s.io;v=v1`;
    const refused = await binary.send('GET', `${namespace}/pods`, { accept: table });
    assert.equal(refused.status, 406);
    assert.match(JSON.parse(refused.bytes.toString()).message, /vnd\.kubernetes\.protobuf$/);
    const fallback = await binary.send('GET', `${namespace}/pods`, {
      accept: `${table},application/json;as=Table;g=meta.k8s.io;v=v1`,
    });
    assert.equal(JSON.parse(fallback.bytes.toString()).kind, 'Table');
  });
});

describe('bodies in protobuf', () => {
  it('are scales', async () => {
    const path = '/apis/apps/v1/namespaces/protobuf/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const made = await json.post(path, {
      metadata: { name: 'd' },
      spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template },
    });
    assert.equal(made.status, 201, made.text);
    const read = decodeObject(scale, (await binary.send('GET', `${path}/d/scale`)).bytes);
    assert.equal(read.kind, 'Scale');
    assert.equal(read.spec.replicas, 1);
    const body = encodeObject(scale, { ...read, spec: { replicas: 4 } });
    const written = await binary.send('PUT', `${path}/d/scale`, { body });
    assert.equal(decodeObject(scale, written.bytes).spec.replicas, 4);
    assert.equal((await json.get(`${path}/d`)).body.spec.replicas, 4);
  });

  it('are refused with a 400 when they are garbage', async () => {
    const path = `${namespace}/pods`;
    const good = encodeObject(pod, canonical(pod, samples[0]?.make('garbage')) as object);
    const bodies: [string, Buffer][] = [
      ['empty', Buffer.alloc(0)],
      ['text', Buffer.from('garbage')],
      ['JSON', Buffer.from('{"kind":"Pod"}')],
      ['prefix alone', Buffer.from('k8s\0')],
      ['cut', good.subarray(0, good.length - 20)],
      ['noise behind the prefix', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(4000, 0xfe)])],
      ['another kind', encodeObject(node, { metadata: { name: 'x' } } as object)],
    ];
    for (const [what, body] of bodies) {
      const answer = await binary.send('POST', path, { body });
      assert.equal(answer.status, 400, what);
      assert.equal(decodeObject(statusType, answer.bytes).reason, 'BadRequest', what);
      const deleted = await binary.send('DELETE', `${path}/none`, { body });
      assert.equal(deleted.status, what === 'empty' ? 404 : 400, what);
    }
    assert.equal((await json.get('/readyz')).status, 200);
  });

  it('are refused with a 415 in a format that is none', async () => {
    const answer = await json.post(`${namespace}/pods`, undefined, { raw: 'x', contentType: 'text/plain' });
    assert.equal(answer.status, 415);
    assert.match(answer.body.message, /application\/vnd\.kubernetes\.protobuf$/);
  });
});
