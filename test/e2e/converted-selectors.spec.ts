import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type ReceivedAdmissionReview, WebhookServer } from '../support/webhook-server.js';
import type { ApiClient, WatchEvent } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

/* v1, which is stored, has `spec.hostPort`; v2 has `spec.host` and `spec.port`, and a label `host` that only it shows. */

let cluster: TestCluster;
let clients: readonly ApiClient[];
let hooks: WebhookServer;
let made: ReturnType<typeof customDefinition>;
let v1: string;
let v2: string;
let counter = 0;
let isHookBroken = false;

// biome-ignore lint/suspicious/noExplicitAny: objects of the test's own kind
type Any = any;

before(async () => {
  hooks = await WebhookServer.start();
  cluster = await sharedCluster('loops');
  clients = cluster.servers.map(({ client }) => client);
});

after(async () => {
  await cluster?.stop();
  await hooks?.stop();
});

function converted(object: Any, apiVersion: string): Any {
  const { hostPort, host, port, ...rest } = object.spec;
  const { host: _host, ...labels } = object.metadata.labels ?? {};
  if (apiVersion.endsWith('/v1')) {
    const spec = hostPort === undefined ? { ...rest, hostPort: `${host}:${port}` } : object.spec;
    return { ...object, apiVersion, spec, metadata: { ...object.metadata, labels } };
  }
  const [name, number] = hostPort === undefined ? [host, port] : String(hostPort).split(':');
  const metadata = { ...object.metadata, labels: { ...labels, host: name } };
  return { ...object, apiVersion, metadata, spec: { ...rest, host: name, port: number } };
}

function answer({ review: { request } }: ReceivedAdmissionReview): Any {
  if (isHookBroken) return { result: { status: 'Failure', message: 'out of order' } };
  const convertedObjects = request.objects.map((object: Any) => converted(object, request.desiredAPIVersion));
  return { convertedObjects, result: { status: 'Success' } };
}

beforeEach(async () => {
  isHookBroken = false;
  const path = `/convert-${counter}`;
  hooks.on(path, answer);
  const text = { type: 'string' };
  const specOf = (properties: object) => ({ type: 'object', properties: { spec: { type: 'object', properties } } });
  made = customDefinition(
    { plural: `routes${counter}`, kind: `Route${counter}` },
    [
      { name: 'v1', schema: specOf({ hostPort: text }), selectableFields: [{ jsonPath: '.spec.hostPort' }] },
      { name: 'v2', schema: specOf({ host: text, port: text }), selectableFields: [{ jsonPath: '.spec.host' }] },
    ],
    {
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: hooks.url(path), caBundle: hooks.caBundle },
          conversionReviewVersions: ['v1'],
        },
      },
    },
  );
  counter++;
  await define(made, clients);
  [v1, v2] = [objectsPath(made, 'v1'), objectsPath(made, 'v2')];
  for (const [i, host] of ['a', 'b', 'a', 'c', 'a', 'b'].entries()) {
    const route = { apiVersion: 'test.example/v1', kind: made.spec.names.kind, metadata: { name: `r${i}` } };
    const created = await (clients[i % 2] as ApiClient).post(v1, { ...route, spec: { hostPort: `${host}:${i}` } });
    assert.equal(created.status, 201, created.text);
  }
});

afterEach(async () => {
  isHookBroken = false;
  await undefine(made, clients);
});

const names = ({ body }: { readonly body: Any }): string[] => body.items.map(({ metadata }: Any) => metadata.name);
const fields = (selector: string, more = '') => `fieldSelector=${encodeURIComponent(selector)}${more}`;

/** All names of a list that is read by pages. */
async function paged(client: ApiClient, path: string, query: string): Promise<string[]> {
  const found: string[] = [];
  for (let next = ''; ; ) {
    const page = await client.get(`${path}?${query}&limit=2${next}`);
    assert.equal(page.status, 200, page.text);
    assert.ok(page.body.items.length <= 2);
    found.push(...names(page));
    const token = page.body.metadata.continue;
    if (!token) return found;
    next = `&continue=${encodeURIComponent(token)}`;
  }
}

describe('selectors in a version that a webhook converts to', () => {
  it('select lists by the fields and labels of the converted objects', async () => {
    for (const client of clients) {
      for (const more of ['', '&resourceVersion=0', '&limit=500']) {
        assert.deepEqual(names(await client.get(`${v2}?${fields('spec.host=a', more)}`)), ['r0', 'r2', 'r4'], more);
        assert.deepEqual(names(await client.get(`${v2}?${fields('spec.host!=a', more)}`)), ['r1', 'r3', 'r5'], more);
        assert.deepEqual(names(await client.get(`${v2}?labelSelector=host%3Db${more}`)), ['r1', 'r5'], more);
      }
      assert.deepEqual(await paged(client, v2, fields('spec.host=a')), ['r0', 'r2', 'r4']);
      assert.deepEqual(await paged(client, v2, fields('spec.host!=b')), ['r0', 'r2', 'r3', 'r4']);
      assert.deepEqual(names(await client.get(`${v2}?${fields('spec.host=a,metadata.name=r2')}`)), ['r2']);
      assert.deepEqual(names(await client.get(`${v2}?${fields('metadata.name=r3')}`)), ['r3']);
      assert.deepEqual(names(await client.get(`${v1}?${fields('spec.hostPort=b:1')}`)), ['r1']);
      assert.deepEqual(names(await client.get(`${v1}?labelSelector=host`)), []);
      const headers = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
      assert.deepEqual(names(await client.get(`${v2}?${fields('spec.host=c')}`, { headers })), ['r3']);
    }
  });

  it('select the events of watches, also when an object starts or stops being selected', async () => {
    const [first, second] = clients as [ApiClient, ApiClient];
    const stream = await second.watch(`${v2}?watch=1&${fields('spec.host=a')}`);
    assert.equal(stream.status, 200);
    const brief = ({ type, object }: WatchEvent) => `${type} ${object.metadata.name} ${object.spec.host}`;
    const next = async () => brief((await stream.next()) as WatchEvent);
    assert.deepEqual([await next(), await next(), await next()], ['ADDED r0 a', 'ADDED r2 a', 'ADDED r4 a']);
    const change = async (name: string, hostPort: string) => {
      const patched = await first.patch(`${v1}/${name}`, 'merge', { spec: { hostPort } });
      assert.equal(patched.status, 200, patched.text);
    };
    await change('r1', 'd:1');
    await change('r1', 'a:1');
    await change('r1', 'a:2');
    await change('r0', 'b:1');
    assert.equal((await first.delete(`${v1}/r3`)).status, 200);
    assert.equal((await first.delete(`${v1}/r2`)).status, 200);
    assert.deepEqual(
      [await next(), await next(), await next(), await next()],
      ['ADDED r1 a', 'MODIFIED r1 a', 'DELETED r0 a', 'DELETED r2 a'],
    );
    stream.close();
  });

  it('delete what they select and nothing else', async () => {
    const [first, second] = clients as [ApiClient, ApiClient];
    assert.equal((await first.delete(`${v2}?${fields('spec.host!=a')}`)).status, 200);
    assert.deepEqual(names(await second.get(v1)), ['r0', 'r2', 'r4']);
    assert.equal((await second.delete(`${v2}?${fields('spec.host=b')}`)).status, 200);
    assert.deepEqual(names(await first.get(v1)), ['r0', 'r2', 'r4']);
  });

  it('delete nothing when the webhook fails', async () => {
    const [first, second] = clients as [ApiClient, ApiClient];
    isHookBroken = true;
    const listed = await first.get(`${v2}?${fields('spec.host!=a')}`);
    assert.deepEqual([listed.status, listed.body.reason], [500, 'InternalError'], listed.text);
    const deleted = await first.delete(`${v2}?${fields('spec.host!=a')}`);
    assert.deepEqual([deleted.status, deleted.body.reason], [500, 'InternalError'], deleted.text);
    assert.equal(names(await second.get(v1)).length, 6);
  });

  it('select by the new version when it becomes the stored one, whatever an object is stored as', async () => {
    const [first] = clients as [ApiClient];
    const path = `${definitionsPath}/${made.metadata.name}`;
    const versions = made.spec.versions.map((version) => ({ ...version, storage: version.name === 'v2' }));
    assert.equal((await first.patch(path, 'merge', { spec: { versions } })).status, 200);
    await eventually(async () => {
      const written = await first.get(path);
      return written.body.status.storedVersions.includes('v2');
    }, 'v2 is stored');
    for (const client of clients) {
      const route = { apiVersion: 'test.example/v2', kind: made.spec.names.kind, metadata: { generateName: 'n-' } };
      const created = await client.post(v2, { ...route, spec: { host: 'a', port: '9' } });
      assert.equal(created.status, 201, created.text);
    }
    for (const client of clients) {
      const old = ({ body }: { readonly body: Any }) =>
        body.items.map(({ metadata }: Any) => metadata.name.replace(/^n-.*/, 'n'));
      const selected = await client.get(`${v2}?${fields('spec.host=a')}`);
      assert.deepEqual(old(selected), ['n', 'n', 'r0', 'r2', 'r4'], selected.text);
      assert.deepEqual(old(await client.get(`${v1}?${fields('spec.hostPort=a:9')}`)), ['n', 'n']);
      assert.deepEqual(old(await client.get(`${v1}?${fields('spec.hostPort=c:3')}`)), ['r3']);
    }
  });
});
