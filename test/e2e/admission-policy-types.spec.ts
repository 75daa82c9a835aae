import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster } from './support/test-cluster.js';

const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const deployments = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
const specOf = (expression: string, rule: object = deployments) => ({
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression }],
});

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ servers: 2, controllers: true });
});
after(() => cluster.stop());

interface Policy {
  readonly metadata: { readonly generation: number; readonly resourceVersion: string };
  readonly status: { readonly observedGeneration?: number; readonly typeChecking?: object };
}

/** A policy after its types have been checked, as the second server shows it. */
async function checked(name: string): Promise<Policy> {
  const { client } = cluster.servers[1] as TestCluster['first'];
  return eventually<Policy>(async () => {
    const policy: Policy = (await client.get(`${path}/${name}`)).body;
    return policy.status?.observedGeneration === policy.metadata.generation && policy;
  }, `the types of ${name} are checked`);
}

describe('types of validating policies', () => {
  it('are in the status: what is wrong, after an update that it is right', async () => {
    const { client } = cluster.first;
    const made = await client.post(path, {
      metadata: { name: 'replicas' },
      spec: specOf('object.spec.replicaz > 5'),
      status: { observedGeneration: 1 },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.status.observedGeneration, undefined);
    const first = await checked('replicas');
    assert.equal(first.metadata.generation, 1, 'the status is no change of the policy');
    assert.deepEqual(first.status, {
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[0].expression',
            warning:
              "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'\n | object.spec.replicaz > 5\n | ...........^",
          },
        ],
      },
    });
    const changed = await client.patch(`${path}/replicas`, 'merge', { spec: specOf('object.spec.replicas > 5') });
    assert.equal(changed.status, 200);
    assert.deepEqual((await checked('replicas')).status, { observedGeneration: 2, typeChecking: {} });
  });

  it('are not known where rules name no kinds', async () => {
    const { client } = cluster.first;
    const spec = specOf('object.spec.replicaz > 5', { ...deployments, resources: ['*'] });
    assert.equal((await client.post(path, { metadata: { name: 'any' }, spec })).status, 201);
    assert.deepEqual((await checked('any')).status, { observedGeneration: 1, typeChecking: {} });
  });
});
