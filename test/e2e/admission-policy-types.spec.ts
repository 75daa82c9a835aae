import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const deployments = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
const specOf = (expression: string, rule: object = deployments) => ({
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression }],
});

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('loops');
});
after(() => cluster.stop());

interface Warning {
  readonly fieldRef: string;
  readonly warning: string;
}

interface Policy {
  readonly metadata: { readonly generation: number; readonly resourceVersion: string };
  readonly status: {
    readonly observedGeneration?: number;
    readonly typeChecking?: { readonly expressionWarnings?: readonly Warning[] };
  };
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
              "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'\n | object.spec.replicaz > 5\n | ...........^\n",
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

  it('are those of the schema for custom resources', async () => {
    const { client } = cluster.first;
    const text = { type: 'string' };
    const spec = {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        ratio: { type: 'number' },
        at: { type: 'string', format: 'date-time' },
        port: { 'x-kubernetes-int-or-string': true },
        parts: { type: 'array', items: { type: 'object', properties: { name: text } } },
        sizes: { type: 'object', additionalProperties: { type: 'integer' } },
        open: { type: 'object', properties: { name: text }, 'x-kubernetes-preserve-unknown-fields': true },
        pod: { type: 'object', properties: { spec: { type: 'object' } }, 'x-kubernetes-embedded-resource': true },
      },
    };
    const definition = await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'crontabs.types.example.com' },
      spec: {
        group: 'types.example.com',
        scope: 'Namespaced',
        names: { plural: 'crontabs', kind: 'CronTab' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          },
        ],
      },
    });
    assert.equal(definition.status, 201, definition.text);
    // The control loops watch definitions on their own; a policy that is created too early is not checked against the
    // new kind.
    await eventually(async () => {
      const published = await client.get('/openapi/v3/apis/types.example.com/v1');
      return published.status === 200;
    }, 'the kind is published');
    const crontabs = { ...deployments, apiGroups: ['types.example.com'], resources: ['crontabs'] };
    const right = [
      'object.spec.replicas > 1 && object.spec.ratio < 2 && object.spec.ratio < 2.5 && object.kind == "CronTab"',
      'timestamp(object.spec.at) < timestamp("2030-01-01T00:00:00Z") && object.spec.port == "http"',
      'object.spec.parts.all(p, p.name == "a") && object.spec.sizes.all(k, object.spec.sizes[k] > 1)',
      'object.spec.open.name == "a" && object.spec.open.other == 1 && object.metadata.name == "a"',
      'object.spec.pod.metadata.name == "a" && object.spec.pod.kind == "Pod"',
    ];
    const wrong = [
      ["object.spec.replicas > '1'", "found no matching overload for '_>_' applied to '(int, string)'"],
      ['object.spec.replicaz > 1', "undefined field 'replicaz'"],
      ['object.spec.parts[0].nam == "a"', "undefined field 'nam'"],
      ['object.spec.sizes["a"] == "b"', "found no matching overload for '_==_' applied to '(int, string)'"],
      ['object.spec.open.name == 1', "found no matching overload for '_==_' applied to '(string, int)'"],
    ] as const;
    const validations = [...right, ...wrong.map(([expression]) => expression)].map((expression) => ({ expression }));
    let count = 0;
    const warnings = await eventually(async () => {
      const name = `crontabs-${count++}`;
      const made = await client.post(path, {
        metadata: { name },
        spec: { matchConstraints: { resourceRules: [crontabs] }, validations },
      });
      assert.equal(made.status, 201, made.text);
      return (await checked(name)).status.typeChecking?.expressionWarnings;
    }, 'there are warnings');
    assert.deepEqual(
      warnings.map(({ fieldRef }) => fieldRef),
      wrong.map((_, i) => `spec.validations[${right.length + i}].expression`),
      JSON.stringify(warnings),
    );
    for (const [i, [, fault]] of wrong.entries()) {
      const { warning } = warnings[i] as Warning;
      assert.match(warning, /^types.example.com\/v1, Kind=CronTab: ERROR: /);
      assert.ok(warning.includes(fault), warning);
    }
  });
});
