import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { customDefinition, define, definitionsPath, objectsPath } from './support/custom-definitions.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const containers = [{ name: 'c', image: 'i' }];

/** The control loops that remove unneeded objects, with the rights of their accounts. */
describe('cleaning', () => {
  let cluster: TestCluster;
  let client: ApiClient;

  before(async () => {
    const flags = ['--authorization-mode=Node,RBAC'];
    // Loops that would act on the objects of the cases.
    const controllerFlags = [...flags, '--controllers=*,-job,-scheduler'];
    cluster = await TestCluster.start({ servers: 1, flags, controllers: true, controllerFlags });
    client = cluster.first.client;
  });
  after(() => cluster?.stop());

  async function made(path: string, body: object) {
    const answer = await client.post(path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  const isGone = (path: string) =>
    eventually(async () => (await client.get(path)).status === 404, `the end of ${path}`, 60_000);

  const referenceTo = ({ apiVersion, kind, metadata }: { apiVersion: string; kind: string; metadata: never }) => {
    const { name, uid } = metadata as { name: string; uid: string };
    return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
  };

  let fences = 0;

  /**
   * Resolves once the garbage collector knows all objects that were created in a collection: it removes one without an
   * owner.
   */
  async function collectorKnows(path: string, object: object = {}): Promise<void> {
    const name = `fence-${fences++}`;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', uid: 'absent' };
    await made(path, { ...object, metadata: { name, ownerReferences: [owner] } });
    await isGone(`${path}/${name}`);
  }

  it('removes what custom resources owned, in the foreground and when their definition goes', async () => {
    const definition = customDefinition({ plural: 'bosses', kind: 'Boss' }, [{ name: 'v1' }]);
    await define(definition, [client]);
    const path = objectsPath(definition);
    const boss = (name: string, owners: object[] = []) => {
      const metadata = { name, ownerReferences: owners };
      return made(path, { apiVersion: 'test.example/v1', kind: 'Boss', metadata });
    };
    const map = (name: string, owner: object) =>
      made(`${core}/configmaps`, { metadata: { name, ownerReferences: [owner] } });
    const first = await boss('first');
    const under = await boss('under', [referenceTo(first)]);
    await map('of-under', referenceTo(under));
    await collectorKnows(`${core}/configmaps`);
    const answer = await client.delete(`${path}/first?propagationPolicy=Foreground`);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.metadata.finalizers, ['foregroundDeletion']);
    await isGone(`${path}/first`);
    assert.equal((await client.get(`${path}/under`)).status, 404);
    assert.equal((await client.get(`${core}/configmaps/of-under`)).status, 404);
    const last = await boss('last');
    await map('of-last', referenceTo(last));
    assert.equal((await client.delete(`${definitionsPath}/bosses.test.example`)).status, 200);
    await isGone(`${core}/configmaps/of-last`);
  });

  it('orphans the pods of a job that is deleted without a policy', async () => {
    const template = { spec: { restartPolicy: 'Never', containers } };
    const job = await made(jobs, { metadata: { name: 'orphaning' }, spec: { template } });
    const owners = [referenceTo(job)];
    await made(`${core}/pods`, { metadata: { name: 'kept', ownerReferences: owners }, spec: { containers } });
    await collectorKnows(`${core}/pods`, { spec: { containers } });
    assert.equal((await client.delete(`${jobs}/orphaning`)).status, 200);
    await isGone(`${jobs}/orphaning`);
    const { metadata } = (await client.get(`${core}/pods/kept`)).body;
    assert.equal(metadata.ownerReferences, undefined);
  });

  it('removes finished jobs in time, and deleted pods that never had a node', async () => {
    const template = { spec: { restartPolicy: 'Never', containers } };
    const spec = { template, ttlSecondsAfterFinished: 1 };
    await made(jobs, { metadata: { name: 'done' }, spec });
    const time = new Date().toISOString().replace(/\.\d+/, '');
    const times = { lastTransitionTime: time, lastProbeTime: time };
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True', ...times }));
    const fields = { startTime: time, completionTime: time, succeeded: 1 };
    const written = await client.patch(`${jobs}/done/status`, 'merge', { status: { ...fields, conditions } });
    assert.equal(written.status, 200, written.text);
    const metadata = { name: 'unscheduled', finalizers: ['example.com/hold'] };
    await made(`${core}/pods`, { metadata, spec: { containers } });
    await client.delete(`${core}/pods/unscheduled`);
    await eventually(
      async () => (await client.get(`${core}/pods/unscheduled`)).body.status.phase === 'Failed',
      'the pod to count as failed',
    );
    await client.patch(`${core}/pods/unscheduled`, 'merge', { metadata: { finalizers: null } });
    await isGone(`${core}/pods/unscheduled`);
    await isGone(`${jobs}/done`);
  });

  it('shows in the status of a quota what is used, and less after a deletion', async () => {
    await made(`${core}/resourcequotas`, { metadata: { name: 'all' }, spec: { hard: { secrets: '50' } } });
    const used = async () => (await client.get(`${core}/resourcequotas/all`)).body.status.used?.secrets as string;
    await eventually(async () => (await used()) === '0', 'the first count');
    const owner = await made(`${core}/secrets`, { metadata: { name: 'owner' } });
    await made(`${core}/secrets`, { metadata: { name: 'owned', ownerReferences: [referenceTo(owner)] } });
    await eventually(async () => (await used()) === '2', 'two secrets');
    await client.delete(`${core}/secrets/owner`);
    await eventually(async () => (await used()) === '0', 'no secrets');
  });
});
