import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse } from './support/api-client.js';
import { questionsUntil } from './support/questions.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

const registration = '/apis/admissionregistration.k8s.io/v1';
const rule = (group: string, resource: string) => ({
  resourceRules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
});

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('plain');
});
after(() => cluster.stop());

/** Creates a policy, its binding and its namespace on the first server. */
async function put(name: string, spec: object): Promise<void> {
  const { client } = cluster.first;
  const policy = await client.post(`${registration}/mutatingadmissionpolicies`, {
    metadata: { name },
    spec: { reinvocationPolicy: 'Never', ...spec },
  });
  assert.equal(policy.status, 201, JSON.stringify(policy.body));
  const matchResources = { namespaceSelector: { matchLabels: { policy: name } } };
  const binding = { metadata: { name: `${name}-binding` }, spec: { policyName: name, matchResources } };
  assert.equal((await client.post(`${registration}/mutatingadmissionpolicybindings`, binding)).status, 201);
  const namespace = { metadata: { name, labels: { policy: name } } };
  assert.equal((await client.post('/api/v1/namespaces', namespace)).status, 201);
}

const pauseMs = 20;

/** Repeats a dry run on the second server until `holds`, for about a second on a quiet machine. */
async function within(path: string, body: object, holds: (answer: ApiResponse) => boolean): Promise<ApiResponse> {
  let answer: ApiResponse | undefined;
  const isSo = async () => {
    answer = await cluster.second.client.post(`${path}?dryRun=All`, body);
    return holds(answer);
  };
  const asked = await questionsUntil(isSo, 'the policy to be in force', pauseMs);
  assert.ok(asked * pauseMs < 1000, `${asked} questions: ${answer?.status} ${JSON.stringify(answer?.body)}`);
  return answer as ApiResponse;
}

const deployment = (more: object = {}) => ({
  metadata: { name: 'd', labels: { app: 'a' } },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'main', image: 'x', env: [{ name: 'A', value: '1' }] }], ...more },
    },
  },
});

describe('mutating policies', () => {
  it('merge what an expression constructs', async () => {
    const expression = `Object{
      metadata: Object.metadata{labels: {'checked': 'yes'}},
      spec: Object.spec{
        replicas: 3,
        template: Object.spec.template{
          spec: Object.spec.template.spec{
            containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers.item{
              name: c.name,
              env: [Object.spec.template.spec.containers.item.env.item{name: 'B', value: variables.team}]
            })
          }
        }
      }
    }`;
    await put('merges', {
      matchConstraints: rule('apps', 'deployments'),
      variables: [{ name: 'team', expression: 'namespaceObject.metadata.labels.policy' }],
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    });
    const path = '/apis/apps/v1/namespaces/merges/deployments';
    const changed = await within(path, deployment(), ({ body }) => body.metadata?.labels?.checked === 'yes');
    assert.equal(changed.status, 201);
    assert.deepEqual(changed.body.metadata.labels, { app: 'a', checked: 'yes' });
    assert.equal(changed.body.spec.replicas, 3);
    const [container] = changed.body.spec.template.spec.containers;
    assert.equal(container.image, 'x');
    assert.deepEqual(container.env, [
      { name: 'A', value: '1' },
      { name: 'B', value: 'merges' },
    ]);
    const stored = await cluster.first.client.post(path, deployment());
    assert.equal(stored.body.metadata.labels.checked, 'yes');
  });

  it('apply patches that an expression makes, each to the object as the one before left it', async () => {
    const patch = (text: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression: text } });
    await put('patches', {
      matchConstraints: rule('', 'configmaps'),
      matchConditions: [{ name: 'asked', expression: "has(object.data) && !('skip' in object.data)" }],
      mutations: [
        patch("[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a~b'), value: 'x'}]"),
        patch(
          "'a~b' in object.data ? [JSONPatch{op: 'add', path: '/data/size', value: string(size(object.data))}] : []",
        ),
      ],
    });
    const path = '/api/v1/namespaces/patches/configmaps';
    const broken = await within(path, { metadata: { name: 'm' }, data: { b: '1' } }, ({ status }) => status !== 201);
    // A tilde is not allowed in keys of this kind: validation also judges the changes of policies.
    assert.equal(broken.status, 422);
    assert.match(broken.body.message, /a~b/);
    const skipped = await cluster.second.client.post(`${path}?dryRun=All`, {
      metadata: { name: 'm' },
      data: { skip: '1' },
    });
    assert.deepEqual(skipped.body.data, { skip: '1' });
    const spec = {
      mutations: [
        patch("[JSONPatch{op: 'add', path: '/data/c', value: 'x'}]"),
        patch("[JSONPatch{op: 'add', path: '/data/size', value: string(size(object.data))}]"),
      ],
    };
    await cluster.first.client.patch(`${registration}/mutatingadmissionpolicies/patches`, 'merge', { spec });
    const changed = await within(
      path,
      { metadata: { name: 'm' }, data: { b: '1' } },
      ({ body }) => body.data?.size === '2',
    );
    assert.deepEqual(changed.body.data, { b: '1', c: 'x', size: '2' });
  });

  it('fail or are ignored, as their failure policy says', async () => {
    const expression =
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{nothing: 1}}}}';
    await put('fails', {
      matchConstraints: rule('apps', 'deployments'),
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    });
    const path = '/apis/apps/v1/namespaces/fails/deployments';
    const refused = await within(path, deployment(), ({ status }) => status === 403);
    assert.match(
      refused.body.message,
      /policy 'fails' with binding 'fails-binding' denied request: invalid ApplyConfiguration: .*nothing/,
    );
    const policy = `${registration}/mutatingadmissionpolicies/fails`;
    await cluster.first.client.patch(policy, 'merge', { spec: { failurePolicy: 'Ignore' } });
    await within(path, deployment(), ({ status }) => status === 201);
    const args =
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers.item{name: "main", args: ["a"]}]}}}}';
    const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: args } }];
    await cluster.first.client.patch(policy, 'merge', { spec: { failurePolicy: 'Fail', mutations } });
    const atomic = await within(path, deployment(), ({ status }) => status === 403);
    assert.match(
      atomic.body.message,
      /may not mutate atomic arrays, maps or structs: \.spec\.template\.spec\.containers\[0\]\.args$/,
    );
  });

  it('are checked when they are written', async () => {
    const send = (mutations: object[]) =>
      cluster.first.client.post(`${registration}/mutatingadmissionpolicies`, {
        metadata: { name: 'wrong' },
        spec: { matchConstraints: rule('', 'configmaps'), reinvocationPolicy: 'Never', mutations },
      });
    const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
    const none = await send([]);
    assert.match(none.body.message, /spec\.mutations: Required value: mutations must contain at least one item/);
    const wrong = await send([
      apply('Object{spec: Object.foo{}}'),
      apply('1'),
      { patchType: 'JSONPatch' },
      { patchType: 'x' },
    ]);
    assert.equal(wrong.status, 422);
    const messages: string[] = wrong.body.details.causes.map(({ message }: { message: string }) => message);
    assert.match(
      messages[0] as string,
      /unexpected type name "Object\.foo", expected "Object\.spec", which matches field name path from root Object type/,
    );
    assert.match(messages[1] as string, /must evaluate to Object but got /);
    assert.match(messages[2] as string, /must be specified when patchType is JSONPatch/);
    assert.match(messages[3] as string, /Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"/);
  });

  it('count their checks', async () => {
    const { text } = await cluster.second.client.get('/metrics');
    assert.match(
      text,
      /apiserver_mutating_admission_policy_check_total\{policy="merges",policy_binding="merges-binding",enforcement_action="allow",error_type="no_error"\} \d+/,
    );
    assert.match(
      text,
      /apiserver_mutating_admission_policy_check_total\{policy="fails",policy_binding="fails-binding",enforcement_action="deny",error_type="invalid_error"\} \d+/,
    );
  });
});
