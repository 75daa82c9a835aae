import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('nodes');
});
after(() => cluster.stop());

describe('what is created at a subresource', () => {
  const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
  const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const bodies = (pod: string): readonly (readonly [path: string, body: object])[] => [
    ['serviceaccounts/robot/token', { spec: { audiences: ['a'] } }],
    [`pods/${pod}/eviction`, { metadata: { name: pod } }],
    [`pods/${pod}/binding`, { metadata: { name: pod }, target: { kind: 'Node', name: 'n1' } }],
  ];

  it('needs a namespace that is there and does not end', async () => {
    const { client } = cluster.first;
    const path = '/api/v1/namespaces/virtual-ending';
    const finalizers = ['test.example/keep'];
    await client.post('/api/v1/namespaces', { metadata: { name: 'virtual-ending' } });
    await client.post(`${path}/serviceaccounts`, { metadata: { name: 'robot', finalizers } });
    const spec = { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'robot' };
    const made = await client.post(`${path}/pods`, { metadata: { name: 'late', finalizers }, spec });
    assert.equal(made.status, 201, made.text);
    for (const [below, body] of bodies('late')) {
      const { status, body: missing } = await client.post(`/api/v1/namespaces/none/${below}`, body);
      assert.deepEqual([status, missing.message], [404, 'namespaces "none" not found'], below);
    }
    await client.delete(path);
    for (const [below, body] of bodies('late')) {
      const answer = await client.post(`${path}/${below}`, body);
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.body.message, /unable to create new content in namespace virtual-ending because it is being/);
      assert.equal(answer.body.details.causes[0].reason, 'NamespaceTerminating');
    }
    for (const kept of ['pods/late', 'serviceaccounts/robot']) {
      await client.patch(`${path}/${kept}`, 'merge', { metadata: { finalizers: null } });
    }
  });

  it('is shown as metadata only where it is an object, and never as a table', async () => {
    const { client } = cluster.first;
    const path = '/api/v1/namespaces/virtual-shown';
    await client.post('/api/v1/namespaces', { metadata: { name: 'virtual-shown' } });
    const spec = { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'robot' };
    await client.post(`${path}/serviceaccounts`, { metadata: { name: 'robot' } });
    const made = await client.post(`${path}/pods`, { metadata: { name: 'shown' }, spec });
    assert.equal(made.status, 201, made.text);
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const review = { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } };
    const all = [
      ...bodies('shown').map(([below, body]) => [`${path}/${below}`, body] as const),
      [reviews, review] as const,
    ];
    for (const [at, body] of all) {
      const post = (accept: string) => client.post(`${at}?dryRun=All`, body, { headers: { accept } });
      const isStatus = /eviction|binding/.test(at);
      const whole = await post(partial);
      assert.deepEqual(
        [whole.status, whole.body.kind],
        [201, isStatus ? 'Status' : 'PartialObjectMetadata'],
        whole.text,
      );
      assert.equal((await post(partialList)).status, isStatus ? 201 : 406, at);
      assert.equal((await post(table)).status, 406, at);
    }
    const list = await client.post(reviews, review, { headers: { accept: partialList } });
    assert.equal(
      list.body.message,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*authorization.SelfSubjectAccessReview)',
    );
  });
});
