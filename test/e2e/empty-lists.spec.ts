import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('plain');
});
after(() => cluster.stop());

describe('an empty list of a body', () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs?dryRun=All';
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };

  it('is shown as one in messages, and an absent one as null', async () => {
    const { client } = cluster.first;
    const refusal = async (spec: object) =>
      (await client.post(jobs, { metadata: { name: 'j' }, spec: { ...spec, template } })).body.message as string;
    const policy = (values: object) => ({ podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: values }] } });
    const shown = 'Invalid value: []: at least one value is required';
    assert.match(await refusal(policy({ operator: 'In', values: [] })), new RegExp(shown.replaceAll(/[[\]]/g, '\\$&')));
    assert.match(await refusal(policy({ operator: 'In' })), /Invalid value: null: at least one value is required/);
    assert.match(await refusal({ successPolicy: { rules: [] } }), /\{"Rules":\[\]\}: requires indexed completion mode/);
    assert.match(await refusal({ successPolicy: {} }), /\{"Rules":null\}: requires indexed completion mode/);
  });

  it('belongs to the creator of the object, if the object always has the list', async () => {
    const { client } = cluster.first;
    const owned = async (path: string, body: object) => {
      const { status, text, body: made } = await client.post(`${path}?dryRun=All`, body);
      assert.equal(status, 201, text);
      const [entry] = (made.metadata.managedFields ?? []) as { fieldsV1: Record<string, unknown> }[];
      return Object.keys(entry?.fieldsV1 ?? {});
    };
    const metadata = { name: 'empty-lists' };
    assert.deepEqual(await owned(roles, { metadata, rules: [] }), ['f:rules']);
    assert.deepEqual(await owned(roles, { metadata }), []);
    const all = await owned(slices, { metadata, addressType: 'IPv4', endpoints: [], ports: [] });
    assert.deepEqual(all.sort(), ['f:addressType', 'f:endpoints', 'f:ports']);
    const made = await client.post(roles, { metadata, rules: [] });
    assert.equal((made.body as unknown as { rules: unknown }).rules, null, made.text);
    await client.delete(`${roles}/empty-lists`);
  });
});
