import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import { status as statusType } from '../../src/objects/apis/meta/v1/status.types.js';
import { expireHistory } from './support/expire-history.js';
import { decodeObject, ProtobufClient } from './support/protobuf-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const path = '/api/v1/namespaces/default/configmaps';

let cluster: TestCluster;
let informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
/** A version older than the history. */
let gone: string;
/** How often the informer listed. */
let lists = 0;
const faults: unknown[] = [];

before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
  const config = new KubeConfig();
  config.loadFromFile(cluster.first.kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  informer = makeInformer(config, path, () => {
    lists++;
    return api.listNamespacedConfigMap({ namespace: 'default' });
  });
  informer.on('error', (error) => {
    // The informer reports a stop as an error, too.
    if (error.name !== 'AbortError') faults.push(error);
  });

  const { client } = cluster.first;
  const old = await client.post(path, { metadata: { name: 'old' } });
  gone = old.body.metadata.resourceVersion;
  await informer.start();
  await eventually(() => names() === 'old', 'the informer to see the first object');
  await informer.stop();
  await client.post(path, { metadata: { name: 'new' } });
  await client.delete(`${path}/old`);
  await expireHistory(cluster.databaseUrl);
  // The process may have versions in memory that the database no longer has.
  await cluster.restartServer(cluster.first);
});

after(() => cluster.stop());

const names = () =>
  informer
    .list('default')
    .map(({ metadata }) => metadata?.name)
    .sort()
    .join();

describe('a watch from before the history', () => {
  it('gets the 410 as the only event of a stream, as JSON and as a table', async () => {
    const { client } = cluster.first;
    for (const accept of ['application/json', 'application/json;as=Table;g=meta.k8s.io;v=v1']) {
      const answer = await client.get(`${path}?watch=1&resourceVersion=${gone}`, { headers: { accept } });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers['content-type'], 'application/json');
      const [line, ...more] = answer.text.trimEnd().split('\n');
      assert.deepEqual(more, []);
      const { type, object } = JSON.parse(line as string);
      assert.equal(type, 'ERROR');
      assert.deepEqual([object.kind, object.apiVersion, object.status], ['Status', 'v1', 'Failure']);
      assert.deepEqual([object.code, object.reason], [410, 'Expired']);
      assert.match(object.message, /^The resourceVersion for the provided watch is too old\.$/);
    }
    const named = await client.get(`/api/v1/watch/namespaces/default/configmaps/new?resourceVersion=${gone}`);
    assert.equal(named.status, 200);
    assert.equal(JSON.parse(named.text).object.code, 410);
  });

  it('gets the 410 in protobuf', async () => {
    const binary = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);
    const events = [];
    for await (const event of binary.watch(`${path}?watch=1&resourceVersion=${gone}`)) events.push(event);
    assert.equal(events.length, 1);
    assert.equal(events[0]?.type, 'ERROR');
    const { kind, code, reason } = decodeObject(statusType, events[0]?.object as Parameters<typeof decodeObject>[1]);
    assert.deepEqual([kind, code, reason], ['Status', 410, 'Expired']);
  });

  it('leaves lists their 410', async () => {
    const { client } = cluster.first;
    const answer = await client.get(`${path}?resourceVersion=${gone}&resourceVersionMatch=Exact`);
    assert.equal(answer.status, 410);
    assert.equal(answer.body.reason, 'Expired');
    assert.match(answer.body.message, /^The resourceVersion for the provided list is too old\.$/);
  });

  it('leaves other refusals their answer', async () => {
    const { client } = cluster.first;
    assert.equal((await client.get(`${path}?watch=1&resourceVersion=x`)).status, 500);
    assert.equal((await client.get(`${path}?watch=1&resourceVersion=999999999999`)).status, 504);
  });

  it('makes an informer list again', async () => {
    assert.equal(lists, 1);
    await informer.start();
    await eventually(() => names() === 'new', 'the informer to show what is there');
    assert.equal(lists, 2);
    await cluster.first.client.post(path, { metadata: { name: 'newer' } });
    await eventually(() => names() === 'new,newer', 'the informer to go on');
    await informer.stop();
    assert.deepEqual(faults, []);
  });
});
