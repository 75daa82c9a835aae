import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const policies = '/apis/policy/v1beta1/podsecuritypolicies';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const pods = '/api/v1/namespaces/default/pods';
const as = { token: tokens.bob };

let cluster: TestCluster;

before(async () => {
  cluster = await TestCluster.start({
    servers: 2,
    flags: [
      '--authorization-mode=RBAC',
      '--enable-admission-plugins=PodSecurityPolicy',
      '--runtime-config=policy/v1beta1',
    ],
  });
});

after(() => cluster?.stop());

async function created(path: string, body: unknown) {
  const answer = await cluster.first.client.post(path, body);
  assert.equal(answer.status, 201, answer.text);
}

const pod = (name: string, securityContext: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', securityContext }] },
});

describe('PodSecurityPolicy', () => {
  it('admits pods only under a policy that their sender may use', async () => {
    const any = { rule: 'RunAsAny' };
    const spec = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any, volumes: ['secret'] };
    const { client } = cluster.second;
    const none = await client.post(pods, pod('early'));
    assert.equal(none.status, 403);
    assert.match(none.body.message, /PodSecurityPolicy: no providers available to validate pod request$/);
    await created(policies, { metadata: { name: 'open' }, spec: { ...spec, privileged: true } });
    await created(policies, { metadata: { name: 'tight' }, spec: { ...spec, readOnlyRootFilesystem: true } });
    const rules = [
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'get', 'patch'] },
      { apiGroups: ['policy'], resources: ['podsecuritypolicies'], resourceNames: ['tight'], verbs: ['use'] },
    ];
    await created(`${rbac}/clusterroles`, { metadata: { name: 'worker' }, rules });
    await created(`${rbac}/namespaces/default/rolebindings`, {
      metadata: { name: 'worker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'worker' },
      subjects: [{ kind: 'User', name: 'bob' }],
    });
    const dry = `${pods}?dryRun=All`;
    await eventually(async () => (await client.post(dry, pod('a'), as)).status === 201, 'the policies');
    const tight = await client.post(pods, pod('a'), as);
    assert.equal(tight.body.metadata.annotations['kubernetes.io/psp'], 'tight');
    assert.equal(tight.body.spec.containers[0].securityContext.readOnlyRootFilesystem, true);
    const refused = await client.post(pods, pod('b', { privileged: true }), as);
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.body.message, /unable to admit pod: \[spec\.containers\[0\]\.securityContext\.privileged: /);
    const admin = await client.post(pods, pod('b', { privileged: true }));
    assert.equal(admin.body.metadata.annotations['kubernetes.io/psp'], 'open');
    const labelled = await client.patch(`${pods}/b`, 'merge', { metadata: { labels: { a: 'b' } } }, as);
    assert.equal(labelled.status, 200, 'what a policy is not about may change');
  });
});
