import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { ManagedFieldsEntry } from '../../src/base/machinery/api-object.js';
import { configMap } from '../../src/objects/apis/core/v1/config-map.types.js';
import { compiledMainFile } from '../support/main-file.js';
import type { ApiClient, ApiRequest } from './support/api-client.js';
import { CborClient } from './support/cbor-client.js';
import { decodeObject, encodeObject, ProtobufClient, protobuf } from './support/protobuf-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

/*
 * The same requests go to an ordinary server and to one that does all possible work in its other thread, each in a
 * namespace of its own.
 */

/** All have one length, so that responses which count bytes don't differ. */
const namespaces = ['space-one', 'space-two'] as const;
let cluster: TestCluster;
before(async () => {
  const flags = ['--authorization-mode=RBAC', '--feature-gates=CBORServingAndStorage=true'];
  cluster = await TestCluster.start({ servers: 1, flags, mainFile: compiledMainFile, accounts: false });
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS ?? ''} --import=${new URL('./support/force-large.js', import.meta.url)}`;
  try {
    await cluster.addServer();
  } finally {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
  }
  for (const name of namespaces) {
    const made = await cluster.first.client.post('/api/v1/namespaces', { metadata: { name } });
    assert.equal(made.status, 201);
  }
});
after(() => cluster.stop());

type Step = readonly [method: string, path: string, options?: ApiRequest];

const json = (body: unknown): ApiRequest => ({ body });
const patch = (type: string, body: unknown): ApiRequest => ({ body, contentType: `application/${type}-patch+json` });
const raw = (text: string, contentType: string): ApiRequest => ({ raw: text, contentType });
const accept = (type: string, options: ApiRequest = {}): ApiRequest => ({
  ...options,
  headers: { ...options.headers, accept: type },
});
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
const applied = 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\ndata:\n  k: ';

/** Paths are below the namespace; `~` stands for the version of the object in the last response. */
const steps: readonly Step[] = [
  ['POST', 'configmaps', json({ metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'v' } })],
  ['POST', 'configmaps', json({ metadata: { name: 'a' } })],
  ['POST', 'configmaps', json({ metadata: { generateName: 'g-', labels: { '-': '' } } })],
  ['POST', 'configmaps', json({ metadata: { name: 'A', namespace: 'other' } })],
  ['POST', 'configmaps', json({ metadata: { name: '-' }, data: { '!': 1 } })],
  ['POST', 'configmaps', json({ metadata: { name: 'u' }, unknown: 1, data: { a: 'b' } })],
  ['POST', 'configmaps?fieldValidation=Strict', json({ metadata: { name: 'w' }, unknown: 1 })],
  ['POST', 'configmaps', raw('{"metadata":{"name":"twice","name":"twice"}}', 'application/json')],
  ['POST', 'configmaps', raw('{"metadata":', 'application/json')],
  ['POST', 'configmaps', raw('metadata: {name: yaml}', 'application/yaml')],
  ['POST', 'configmaps', raw('metadata: [', 'application/yaml')],
  ['POST', 'configmaps', raw('{}', 'text/plain')],
  ['POST', 'configmaps', {}],
  ['POST', 'configmaps?dryRun=All', json({ metadata: { name: 'dry' } })],
  ['POST', 'configmaps?dryRun=Some', json({ metadata: { name: 'dry' } })],
  ['POST', 'configmaps?fieldManager=me&pretty=true', json({ metadata: { name: 'm' } })],
  ['POST', 'configmaps', { ...json({ metadata: { name: 'no' } }), token: tokens.alice }],
  ['POST', 'configmaps', { ...json({ metadata: { name: 'no' } }), token: 'wrong' }],
  ['POST', 'configmaps', { ...json({ metadata: { name: 'as' } }), headers: { 'impersonate-user': 'alice' } }],
  ['POST', 'configmaps', accept('application/yaml', json({ metadata: { name: 'y2' } }))],
  ['POST', 'configmaps', accept(table, json({ metadata: { name: 't' } }))],
  ['POST', 'configmaps', accept('text/plain', json({ metadata: { name: 'n' } }))],
  ['GET', 'configmaps/a'],
  ['HEAD', 'configmaps/a'],
  ['HEAD', 'configmaps/none'],
  ['GET', 'configmaps/a?pretty=true'],
  ['GET', 'configmaps/a', accept(table)],
  ['GET', 'configmaps/a', accept('application/yaml')],
  ['GET', 'configmaps/a', { headers: { 'accept-encoding': 'gzip', 'user-agent': 'kubectl/v1.20' } }],
  ['GET', 'configmaps/none', accept(table)],
  ['PUT', 'configmaps/a', json({ metadata: { name: 'a' }, data: { k: 'w' } })],
  ['PUT', 'configmaps/a', json({ metadata: { name: 'b' } })],
  ['PUT', 'configmaps/a', json({ metadata: { name: 'a', resourceVersion: '1' } })],
  ['PUT', 'configmaps/a', json({ metadata: { name: 'a', uid: 'other' } })],
  ['PUT', 'configmaps/none', json({ metadata: { name: 'none' } })],
  ['PATCH', 'configmaps/a', patch('merge', { data: { k: null, l: 'm' } })],
  ['PATCH', 'configmaps/a?dryRun=All', patch('merge', { data: { k: 'dry' } })],
  ['PATCH', 'configmaps/a', patch('strategic-merge', { metadata: { finalizers: ['a.b/c'] } })],
  ['PATCH', 'configmaps/a', patch('json', [{ op: 'test', path: '/data/l', value: 'x' }])],
  ['PATCH', 'configmaps/a', patch('json', [{ op: 'add', path: '/data/n', value: 'o' }])],
  ['PATCH', 'configmaps/a', patch('other', {})],
  ['PATCH', 'configmaps/a?fieldManager=me', raw(`${applied}v`, 'application/apply-patch+yaml')],
  ['PATCH', 'configmaps/a?fieldManager=you', raw(`${applied}w`, 'application/apply-patch+yaml')],
  ['PATCH', 'configmaps/a?fieldManager=you&force=true', raw(`${applied}w`, 'application/apply-patch+yaml')],
  ['PATCH', 'configmaps/a', raw(`${applied}w`, 'application/apply-patch+yaml')],
  ['DELETE', 'configmaps/a?dryRun=All'],
  ['DELETE', 'configmaps/a', json({ preconditions: { uid: 'other' } })],
  ['DELETE', 'configmaps/a', json({ kind: 'Pod', apiVersion: 'v1' })],
  ['DELETE', 'configmaps/a'],
  ['PATCH', 'configmaps/a', patch('merge', { metadata: { finalizers: null } })],
  ['GET', 'configmaps/a'],
  ['DELETE', 'configmaps?labelSelector=none'],
  ['DELETE', 'configmaps?limit=1'],
  ['POST', 'pods', json(pod)],
  ['PUT', 'pods/p/status', json({ ...pod, status: { phase: 'Running' } })],
  ['PATCH', 'pods/p', patch('strategic-merge', { spec: { containers: [{ name: 'c', image: 'j' }] } })],
  ['PATCH', 'pods/p', patch('merge', { spec: { nodeName: 'n' } })],
  ['POST', 'pods/p/eviction', json({ metadata: { name: 'p' } })],
  ['POST', 'pods/p/binding', json({ metadata: { name: 'p' }, target: { name: 'n1' } })],
  ['GET', 'pods/p', accept(table)],
  ['DELETE', 'pods/p?gracePeriodSeconds=0'],
  ['POST', 'services', json({ metadata: { name: 's' }, spec: { ports: [{ port: 1 }], clusterIP: 'None' } })],
  ['POST', 'services', json({ metadata: { name: 's2' }, spec: { ports: [{ port: 0 }] } })],
  ['POST', 'serviceaccounts', json({ metadata: { name: 'robot' } })],
  ['POST', 'serviceaccounts/robot/token?dryRun=All', json({ spec: {} })],
  ['POST', 'localsubjectaccessreviews', json(review)],
  ['POST', 'secrets', json({ metadata: { name: 's' }, stringData: { a: 'b' } })],
  ['POST', 'secrets', json({ metadata: { name: 't' }, data: { a: '!' } })],
  ['GET', 'secrets', accept(table)],
  ['GET', 'secrets?limit=1', accept(table)],
  ['GET', 'secrets?limit=1&pretty=true'],
  ['GET', 'secrets?labelSelector=a!=b&includeObject=Object', accept(table)],
  ['GET', 'secrets?labelSelector=(', accept(table)],
  ['GET', 'secrets?fieldSelector=type=Opaque', accept('application/yaml')],
  ['GET', 'secrets', accept('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')],
  ['GET', 'secrets/s', accept('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1')],
  ['GET', 'secrets/s', accept('text/plain')],
  ['GET', 'secrets', { token: tokens.alice }],
  ['POST', 'events', json({ metadata: { name: 'e' }, involvedObject: { namespace: 'other' } })],
  ['DELETE', 'secrets?dryRun=All', accept(table)],
  ['DELETE', 'secrets?fieldSelector=metadata.name=s'],
  ['GET', 'nothing'],
  ['PUT', 'configmaps', json({})],
];
const deployments: readonly Step[] = [
  ['POST', 'deployments', json(deployment)],
  ['GET', 'deployments/d/scale'],
  ['PUT', 'deployments/d/scale', json({ metadata: { name: 'd' }, spec: { replicas: 3 } })],
  ['PATCH', 'deployments/d/scale', patch('merge', { spec: { replicas: -1 } })],
  ['PATCH', 'deployments/d', patch('strategic-merge', { spec: { selector: { matchLabels: { a: 'c' } } } })],
  ['DELETE', 'deployments/d?propagationPolicy=Foreground'],
  ['DELETE', 'deployments/d?propagationPolicy=Background'],
];

/**
 * Managed fields of one object are in the order of their times, in whole seconds: two writes in one second for one
 * namespace may be in two seconds for the other. Here they are in the order of their managers.
 */
function withManagersInOrder(text: string): string {
  const entries = /^\{.*"managedFields":\[/s.test(text) ? managedFieldsOf(text) : [];
  const keyOf = (entry: ManagedFieldsEntry) => JSON.stringify([entry.operation, entry.manager, entry.subresource]);
  const inOrder = entries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return text.replace(JSON.stringify(entries), () => JSON.stringify(inOrder));
}

function managedFieldsOf(text: string): ManagedFieldsEntry[] {
  try {
    return JSON.parse(text).metadata?.managedFields ?? [];
  } catch {
    return [];
  }
}

/** A response without the values that differ between any two objects. */
async function answerOf(client: ApiClient, namespace: string, prefix: string, [method, path, options]: Step) {
  const { status, headers, text } = await client.send(method, `${prefix}/namespaces/${namespace}/${path}`, options);
  const { date: _date, 'audit-id': _audit, 'content-length': length, ...shown } = headers;
  return {
    status,
    headers: shown,
    hasLength: length !== undefined,
    text: withManagersInOrder(text)
      .replaceAll(namespace, 'NAMESPACE')
      .replaceAll(/\bg-[a-z0-9]{5}\b/g, 'GENERATED')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
      .replaceAll(/(resourceVersion"?: ?"?)\d+/g, '$1VERSION')
      .replaceAll(/"continue":"[^"]+"/g, '"continue":"TOKEN"')
      .replaceAll(/"(?:\d+[dhms])+"/g, '"AGE"'),
  };
}

const role = { metadata: { name: 'r' }, rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] };
const roles: readonly Step[] = [
  ['POST', 'roles', json(role)],
  ['PUT', 'roles/r', json({ ...role, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] })],
  ['POST', 'rolebindings', json({ metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' } })],
  ['GET', 'roles', accept(table)],
];

for (const [prefix, all] of [
  ['/apis/rbac.authorization.k8s.io/v1', roles],
  ['/api/v1', steps],
  ['/apis/apps/v1', deployments],
] as const) {
  it(`is the same in the other thread: ${prefix}`, async () => {
    const differences: unknown[] = [];
    for (const step of all) {
      const here = await answerOf(cluster.first.client, namespaces[0], prefix, step);
      const there = await answerOf(cluster.second.client, namespaces[1], prefix, step);
      try {
        assert.deepEqual(there, here);
      } catch (error) {
        differences.push(`${step[0]} ${step[1]} ${JSON.stringify(step[2])}\n${String(error)}`);
      }
    }
    assert.equal(differences.join('\n\n'), '');
  });
}

it('reads and writes the same protobuf', async () => {
  const clients = cluster.servers.map(({ url }) => new ProtobufClient(url, cluster.pki.authority, tokens.admin));
  for (const [i, body] of [
    encodeObject(configMap, { metadata: { name: 'proto' }, data: { a: 'é' } } as object),
    Buffer.from('k8s\0garbage'),
    Buffer.from('garbage'),
  ].entries()) {
    const shown = [];
    for (const [n, client] of clients.entries()) {
      const path = `/api/v1/namespaces/${namespaces[n]}/configmaps`;
      const { status, headers, bytes } = await client.send('POST', path, { body, contentType: protobuf });
      const object =
        status === 201 ? (decodeObject(configMap, bytes) as { data: unknown }).data : bytes.toString('latin1');
      shown.push({ status, type: headers['content-type'], object });
    }
    assert.deepEqual(shown[1], shown[0]);
    assert.equal(shown[0]?.status, i === 0 ? 201 : 400);
  }
});

it('reads and writes the same CBOR', async () => {
  const clients = cluster.servers.map(({ url }) => new CborClient(url, cluster.pki.authority, tokens.admin));
  for (const [i, body] of [
    { kind: 'ConfigMap', metadata: { name: 'cbor' }, data: { a: 'é' }, binaryData: { b: 'AQID' } },
    Buffer.from('garbage'),
    Buffer.from('a26161016161', 'hex'),
  ].entries()) {
    const shown = [];
    for (const [n, client] of clients.entries()) {
      const path = `/api/v1/namespaces/${namespaces[n]}/configmaps`;
      const { status, body: object } = await client.ask('POST', path, { body });
      shown.push({ status, object: status === 201 ? { ...object, metadata: undefined } : object });
    }
    assert.deepEqual(shown[1], shown[0]);
    assert.equal(shown[0]?.status, i === 0 ? 201 : 400);
  }
});

it('shows the same events, and really used the other thread', async () => {
  const admin = cluster.first.client;
  const path = `/api/v1/namespaces/${namespaces[0]}/configmaps`;
  await admin.post(path, { metadata: { name: 'seen', labels: { a: 'b' } }, data: { a: 'b' } });
  for (const type of [table, 'application/json', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1']) {
    const watches = await Promise.all(
      cluster.servers.map(({ client }) =>
        client.watch(`${path}?watch=1&labelSelector=a`, { headers: { accept: type } }),
      ),
    );
    for (const change of [
      { data: { type } },
      { metadata: { labels: { a: null } } },
      { metadata: { labels: { a: 'c' } } },
    ]) {
      await admin.send('PATCH', `${path}/seen`, patch('merge', change));
    }
    const [here, there] = await Promise.all(watches.map((watch) => watch.take(4)));
    assert.deepEqual(
      here?.map((event) => event.type),
      ['ADDED', 'MODIFIED', 'DELETED', 'ADDED'],
    );
    assert.deepEqual(withoutAges(there), withoutAges(here));
    for (const watch of watches) watch.close();
  }
  const other = cluster.second;
  other.process.kill('SIGUSR2');
  const counts = await eventually(() => /^handed over (.*)$/m.exec(other.log)?.[1], 'the report of the server');
  const { answers, events } = JSON.parse(counts) as { answers: number; events: number };
  assert.ok(answers > 60, `${answers} requests`);
  assert.ok(events >= 8, `${events} events`);
});

/** Cells of a table contain the age of an object. */
function withoutAges(events: unknown): unknown {
  return JSON.parse(JSON.stringify(events).replaceAll(/"\d+[smh]"/g, '"AGE"'));
}
