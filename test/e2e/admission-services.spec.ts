import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const core = '/api/v1/namespaces/default';

let cluster: TestCluster;
let admin: ApiClient;
/** The second process, which learns everything from the log. */
let other: ApiClient;

before(async () => {
  const plugins = ['DenyServiceExternalIPs', 'NamespaceAutoProvision', 'NamespaceExists', 'AlwaysAdmit'];
  cluster = await TestCluster.start({
    servers: 2,
    flags: [
      '--authorization-mode=RBAC',
      `--enable-admission-plugins=${[...plugins, 'OwnerReferencesPermissionEnforcement'].join()}`,
    ],
  });
  admin = cluster.first.client;
  other = cluster.second.client;
});

after(() => cluster?.stop());

function refused(answer: ApiResponse, message: RegExp): void {
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.body.message, message);
}

describe('DenyServiceExternalIPs', () => {
  it('refuses new external addresses, whoever asks', async () => {
    const denied = /^services "web" is forbidden: Use of external IPs is denied by admission control$/;
    const service = { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } };
    const externalIPs = ['192.0.2.1'];
    refused(await admin.post(`${core}/services`, { ...service, spec: { ...service.spec, externalIPs } }), denied);
    assert.equal((await admin.post(`${core}/services`, service)).status, 201);
    refused(await other.patch(`${core}/services/web`, 'merge', { spec: { externalIPs } }), denied);
    assert.equal(
      (await other.patch(`${core}/services/web`, 'merge', { metadata: { labels: { a: 'b' } } })).status,
      200,
    );
  });
});

describe('NamespaceAutoProvision', () => {
  const map = { metadata: { name: 'a' } };

  it('makes a missing namespace, once, when two processes need it at the same time', async () => {
    const path = (namespace: string, name: string) =>
      [`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } }] as const;
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        [admin, other].flatMap((client, process) =>
          [0, 1, 2].map((i) => client.post(...path(`made-${round}`, `m-${process}-${i}`))),
        ),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201, 201, 201, 201, 201],
        answers.map(({ text }) => text).join(),
      );
    }
    const made = await other.get('/api/v1/namespaces/made-0');
    assert.equal(made.body.status.phase, 'Active');
    assert.deepEqual(made.body.spec.finalizers, ['kubernetes']);
  });

  it('makes none for a dry run, and none with a wrong name', async () => {
    const dry = await admin.post('/api/v1/namespaces/never/configmaps?dryRun=All', map);
    assert.equal(dry.status, 404, dry.text);
    assert.equal((await admin.get('/api/v1/namespaces/never')).status, 404);
    const wrong = await admin.post('/api/v1/namespaces/Wrong_Name/configmaps', map);
    assert.equal(wrong.status, 422, wrong.text);
    assert.equal(wrong.body.details.kind, 'Namespace');
  });
});

describe('NamespaceExists', () => {
  it('lets writes in live namespaces pass', async () => {
    assert.equal((await admin.post(`${core}/configmaps`, { metadata: { name: 'm' } })).status, 201);
    assert.equal((await other.delete(`${core}/configmaps/m`)).status, 200);
  });
});

describe('OwnerReferencesPermissionEnforcement', () => {
  const as = { token: tokens.bob };

  before(async () => {
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update', 'patch'] },
      { apiGroups: ['apps'], resources: ['replicasets'], verbs: ['get'] },
    ];
    const role = await admin.post(`${rbac}/roles`, { metadata: { name: 'editor' }, rules });
    assert.equal(role.status, 201, role.text);
    const binding = await admin.post(`${rbac}/rolebindings`, {
      metadata: { name: 'editor' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'editor' },
      subjects: [{ kind: 'User', name: 'bob' }],
    });
    assert.equal(binding.status, 201, binding.text);
    // Servers learn of roles with a short delay.
    const path = `${core}/configmaps?dryRun=All`;
    for (const client of [admin, other]) {
      const may = async () => (await client.post(path, { metadata: { name: 'may' } }, as)).status === 201;
      await eventually(may, 'the rights of bob');
    }
  });

  it('asks for the right to delete, and to hold up the owner', async () => {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'rs',
      uid: '8f1b3c5e-0000-4000-8000-000000000000',
    };
    const map = (fields: object) => ({ metadata: { name: 'owned', ownerReferences: [{ ...owner, ...fields }] } });
    refused(
      await admin.post(`${core}/configmaps`, map({ blockOwnerDeletion: true }), as),
      /^configmaps "owned" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: /,
    );
    const made = await admin.post(`${core}/configmaps`, map({}), as);
    assert.equal(made.status, 201, made.text);
    refused(
      await other.patch(`${core}/configmaps/owned`, 'merge', { metadata: { ownerReferences: null } }, as),
      /^configmaps "owned" is forbidden: cannot set an ownerRef on a resource you can't delete: /,
    );
    assert.equal((await other.patch(`${core}/configmaps/owned`, 'merge', { data: { a: 'b' } }, as)).status, 200);
    const blocked = await other.patch(`${core}/configmaps/owned`, 'merge', map({ blockOwnerDeletion: true }));
    assert.equal(blocked.status, 200, 'an administrator may');
  });
});

describe('AlwaysDeny', () => {
  it('refuses every write of a process, and no read', async () => {
    const server = await cluster.addServer(undefined, ['--enable-admission-plugins=AlwaysDeny']);
    const denied = /is forbidden: admission control is denying all modifications$/;
    refused(await server.client.post(`${core}/configmaps`, { metadata: { name: 'no' } }), denied);
    refused(await server.client.delete(`${core}/services/web`), denied);
    refused(await server.client.patch(`${core}/services/web`, 'merge', {}), denied);
    assert.equal((await server.client.get(`${core}/services/web`)).status, 200);
  });
});
