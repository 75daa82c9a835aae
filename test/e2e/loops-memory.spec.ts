import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { eventually, TestCluster } from './support/test-cluster.js';

/**
 * The objects of one tenant must not end the process of the control loops, whose heap is small here, nor keep it from
 * work for others.
 */
const heapMebibytes = 128;
const sets = 10;
const pods = 80;
const patienceMs = 240_000;

/** A text that differs between any two objects once `@` is replaced. */
const filler = (bytes: number) => '@-'.padEnd(bytes, 'abcdefghijklmnopqrstuvwxyz0123456789');
const values = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `E${i}`, value: filler(2000) }));
const heavy = (count: number) => ({
  nodeSelector: { 'example.com/none': 'x' },
  containers: [{ name: 'c', image: 'x', env: values(count) }],
});

describe('control loops with a small heap', () => {
  let cluster: TestCluster;
  let loops: ChildProcess;

  const start = () => {
    loops = cluster.startProgram(
      'controllers',
      ['--compat=kubernetes', '--controllers=*'],
      [`--max-old-space-size=${heapMebibytes}`],
    );
  };
  const end = async () => {
    const ended = once(loops, 'exit');
    loops.kill('SIGTERM');
    await ended;
  };

  /** Copies of an object of the tenant, written by the function with which servers write. */
  const copy = async (resource: string, count: number, replicas: number) => {
    const admin = new pg.Client({ connectionString: cluster.databaseUrl });
    await admin.connect();
    for (let i = 0; i < count; i++) {
      await admin.query(
        `with made as (
          select gen_random_uuid()::text as uid, o.uid as old, o.data::text as data
          from plinth.objects o where o.resource = $2 and o.namespace = 'tenant' and o.name = 'o')
        select count(*) from (select array[0::smallint] as ops, array[$2::text] as resources,
          array['tenant'::text] as namespaces, array['o-' || $3] as names, array_agg(uid) as uids,
          array[null::bigint] as versions,
          array_agg(replace(replace(replace(replace(data, old, uid), '"name":"o"', '"name":"o-' || $3 || '"'),
            '@', $3), '"replicas":0', '"replicas":' || $4)) as texts from made) m
        cross join lateral plinth.write_batch(null, $1, ops, null, resources, namespaces, names, uids, versions, texts,
          null, null, null, true) w`,
        [String(Date.now() * 1000 + i), resource, String(i), String(replicas)],
      );
    }
    await admin.end();
  };

  /** Work for others continues: a deployment gets its pods. */
  const deploys = async (name: string) => {
    const { client } = cluster.first;
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    const made = await client.post('/apis/apps/v1/namespaces/honest/deployments', { metadata: { name }, spec });
    assert.equal(made.status, 201, made.text);
    await eventually(
      async () => {
        assert.equal(loops.exitCode ?? loops.signalCode, null, 'the loops run');
        const { body } = await client.get(`/api/v1/namespaces/honest/pods?labelSelector=app%3D${name}`);
        return body.items.length === 2;
      },
      `the pods of ${name}`,
      patienceMs,
    );
  };

  before(async () => {
    cluster = await TestCluster.start({ servers: 1 });
    const { client } = cluster.first;
    for (const name of ['tenant', 'honest']) await client.post('/api/v1/namespaces', { metadata: { name } });
  });
  after(() => cluster?.stop());

  it('go on beside templates of 900 KB and 100,000 replicas, and say for whom objects wait', async () => {
    const { client } = cluster.first;
    const labels = { app: 'o' };
    const template = { metadata: { labels }, spec: heavy(400) };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    const made = await client.post('/apis/apps/v1/namespaces/tenant/replicasets', { metadata: { name: 'o' }, spec });
    assert.equal(made.status, 201, made.text);
    await copy('replicasets.apps', sets, 100_000);
    start();
    await deploys('first');
    await eventually(
      async () => {
        const { body } = await client.get('/api/v1/namespaces/tenant/events');
        return (body.items as { reason: string }[]).some(({ reason }) => reason === 'CreationDelayed');
      },
      'an event about what waits',
      patienceMs,
    );
    await deploys('second');
    await end();
    const removed = await client.delete('/apis/apps/v1/namespaces/tenant/replicasets');
    assert.equal(removed.status, 200, removed.text);
  });

  it('start beside pods of 1.5 MB, which stay as they are', async () => {
    const { client } = cluster.first;
    const made = await client.post('/api/v1/namespaces/tenant/pods', { metadata: { name: 'o' }, spec: heavy(750) });
    assert.equal(made.status, 201, made.text);
    await copy('pods', pods, 0);
    start();
    await deploys('third');
    const { body } = await client.get('/api/v1/namespaces/tenant/pods/o-7');
    assert.equal(body.spec.containers[0].env.length, 750);
  });
});
