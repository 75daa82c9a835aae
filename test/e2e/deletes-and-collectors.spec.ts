import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';

let cluster: TestCluster;
let client: ApiClient;
before(async () => {
  cluster = await sharedCluster('rbac');
  client = cluster.first.client;
});
after(() => cluster.stop());

describe('DELETE without a garbage collector', () => {
  it('leaves no object that waits for a garbage collector', async () => {
    const { client: api } = await cluster.addServer(undefined, ['--enable-garbage-collector=false']);
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    };
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    for (const [i, query] of ['', 'propagationPolicy=Orphan', 'propagationPolicy=Foreground'].entries()) {
      const job = { metadata: { name: `job-${i}` }, spec: { template } };
      assert.equal((await api.post(jobs, job)).status, 201);
      const answer = await api.delete(`${jobs}/job-${i}?${query}`);
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await api.get(`${jobs}/job-${i}`)).status, 404, query);
      assert.equal(answer.headers.warning !== undefined, query !== '', query);
    }
    const controllers = `${core}/replicationcontrollers`;
    const spec = { template: { ...template, spec: { ...template.spec, restartPolicy: 'Always' } } };
    assert.equal((await api.post(controllers, { metadata: { name: 'rc' }, spec })).status, 201);
    assert.equal((await api.delete(`${controllers}/rc`)).status, 200);
    assert.equal((await api.get(`${controllers}/rc`)).status, 404);
  });
});

describe('DELETE beside a garbage collector', () => {
  it('marks the object, which goes when the collector has done its part', async () => {
    const api = client;
    const containers = [{ name: 'c', image: 'i' }];
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const template = { spec: { restartPolicy: 'Never', containers } };
    const map = { path: `${core}/configmaps`, object: {} };
    const job = { path: jobs, object: { spec: { template } } };
    const event = { path: `${core}/events`, object: { involvedObject: { namespace: 'default' } } };
    const cases = [
      [map, 'propagationPolicy=Orphan', 'orphan'],
      [map, 'propagationPolicy=Foreground', 'foregroundDeletion'],
      [map, 'propagationPolicy=Background', undefined],
      [map, 'orphanDependents=false', undefined],
      [map, '', undefined],
      [job, '', 'orphan'],
      [job, 'propagationPolicy=Background', undefined],
      [event, 'propagationPolicy=Orphan', undefined],
    ] as const;
    for (const [i, [{ path, object }, query, finalizer]] of cases.entries()) {
      const name = `collected-${i}`;
      const created = await api.post(path, { metadata: { name }, ...object });
      assert.equal(created.status, 201, created.text);
      const answer = await api.delete(`${path}/${name}?${query}`);
      assert.equal(answer.status, 200, answer.text);
      // The pods of a job stay only because the client gave no policy, which may surprise.
      const isSurprising = path === jobs && query === '';
      if (isSurprising) assert.match(String(answer.headers.warning), /^299 - "child pods are preserved by default/);
      else assert.equal(answer.headers.warning, undefined, query);
      const live = await api.get(`${path}/${name}`);
      assert.equal(live.status, finalizer === undefined ? 404 : 200, `${path} ${query}`);
      if (finalizer === undefined) continue;
      assert.deepEqual(live.body.metadata.finalizers, [finalizer]);
      assert.ok(live.body.metadata.deletionTimestamp);
      const done = { metadata: { finalizers: null } };
      await api.patch(`${path}/${name}`, 'merge', done);
      assert.equal((await api.get(`${path}/${name}`)).status, 404, `${path} ${query}`);
    }
  });

  it('does so for large objects and for whole collections', async () => {
    const api = client;
    const path = `${core}/configmaps`;
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, '']));
    for (const name of ['large', 'small']) {
      const created = await api.post(path, {
        metadata: { name, labels: { all: 'of-them' } },
        ...(name === 'large' ? { data } : {}),
      });
      assert.equal(created.status, 201, created.text.slice(0, 200));
    }
    const all = `${path}?labelSelector=all=of-them`;
    assert.equal((await api.delete(`${all}&propagationPolicy=Orphan`)).status, 200);
    const { items } = (await api.get(all)).body as unknown as { items: readonly { metadata: unknown }[] };
    const finalizers = items.map(({ metadata }) => (metadata as { finalizers?: unknown }).finalizers);
    assert.deepEqual(finalizers, [['orphan'], ['orphan']]);
  });
});
