import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { writeCertificateRequest } from '../../src/base/machinery/x509/write-certificate-request.js';
import type { ApiClient, ApiRequest, ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';
const leases = '/apis/coordination.k8s.io/v1/namespaces/control-node-lease/leases';
const csiNodes = '/apis/storage.k8s.io/v1/csinodes';

let cluster: TestCluster;
let admin: ApiClient;
/** The second process, which learns everything from the log. */
let other: ApiClient;

before(async () => {
  cluster = await sharedCluster('nodes');
  admin = cluster.first.client;
  other = cluster.second.client;
  for (const name of ['n1', 'n2']) {
    const { status, text } = await admin.post('/api/v1/nodes', { metadata: { name } });
    assert.ok(status === 201 || status === 409, text);
  }
});

after(() => cluster?.stop());

async function created(path: string, body: unknown, options: ApiRequest = {}) {
  const answer = await admin.post(path, body, options);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

/** A request as the agent of a node. */
function as(node: string): ApiRequest {
  return { headers: { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' } };
}

function pod(name: string, nodeName: string, spec: Record<string, unknown> = {}) {
  return { metadata: { name }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec } };
}

function refused(answer: ApiResponse, message: RegExp | string): void {
  assert.equal(answer.status, 403, answer.text);
  assert.equal(answer.body.reason, 'Forbidden');
  if (typeof message === 'string') assert.equal(answer.body.message, message);
  else assert.match(answer.body.message, message);
}

describe('NodeRestriction', () => {
  const mirror = 'kubernetes.io/config.mirror';

  async function mirrorOf(name: string, over: { metadata?: object; spec?: object } = {}) {
    const { body: node } = await admin.get('/api/v1/nodes/n1');
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid, controller: true };
    return {
      metadata: { name, annotations: { [mirror]: 'x' }, ownerReferences: [owner], ...over.metadata },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...over.spec },
    };
  }

  it('lets a node request certificates only for pods that it runs, from signers of their volumes', async () => {
    const signerName = 'example.com/pods';
    const source = { podCertificate: { signerName, keyType: 'ED25519', credentialBundlePath: 'bundle' } };
    const volumes = [{ name: 'certificates', projected: { sources: [source] } }];
    const account = await created(`${core}/serviceaccounts`, { metadata: { name: 'certified' } });
    const own = { volumes, serviceAccountName: 'certified', automountServiceAccountToken: false };
    const here = await created(`${core}/pods`, pod('certified', 'n1', own));
    const there = await created(`${core}/pods`, pod('certified-elsewhere', 'n2', own));
    const { body: node } = await admin.get('/api/v1/nodes/n1');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const request = writeCertificateRequest({ commonName: '', organizations: [] }, privateKey);
    const spec = {
      ...{ signerName, podName: 'certified', podUID: here.metadata.uid },
      ...{ serviceAccountName: 'certified', serviceAccountUID: account.metadata.uid },
      ...{ nodeName: 'n1', nodeUID: node.metadata.uid },
      stubPKCS10Request: request.replace(/-----.*-----|\n/g, ''),
    };
    const path = '/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests';
    const ask = (over: object, name = 'n1') =>
      other.post(path, { metadata: { generateName: 'req-' }, spec: { ...spec, ...over } }, as(name));
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ nodeName: 'n2' }, /Spec\.NodeName="n2", which is not the requesting node "n1"$/],
      [{ nodeUID: 'u' }, /pod "default\/certified" names node UID "u", inconsistent with the running node \("/],
      [{ podName: 'absent' }, /while retrieving pod "default\/absent" named in the PodCertificateRequest/],
      [{ podUID: 'u' }, /contains pod UID \("u"\) which differs from running pod "/],
      [
        { podName: 'certified-elsewhere', podUID: there.metadata.uid },
        /pod "default\/certified-elsewhere" is not running on node "n1" named in the PodCertificateRequest$/,
      ],
      [
        { serviceAccountName: 'default' },
        /contains serviceAccountName \("default"\) that differs from running pod \("certified"\)$/,
      ],
      [{ serviceAccountUID: 'u' }, /names service account UID "u", which differs from the running service account/],
      [
        { signerName: 'example.com/others' },
        /pod "default\/certified" does not mount a podCertificate projected volume for signer "example.com\/others"$/,
      ],
    ];
    for (const [over, message] of cases) refused(await ask(over), message);
    refused(await ask({}, 'n2'), /which is not the requesting node "n2"$/);
    const answer = await ask({});
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await admin.delete(`${path}/${answer.body.metadata.name}`)).status, 200);
  });

  it('lets a node mirror its own pods, which open nothing', async () => {
    assert.equal((await other.post(`${core}/pods`, await mirrorOf('mirror'), as('n1'))).status, 201);
    const volumes = [{ name: 'v', secret: { secretName: 'unused' } }];
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'unused', key: 'k' } } }];
    const claim = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    const { body: node } = await admin.get('/api/v1/nodes/n1');
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid, controller: true };
    const cases: readonly (readonly [{ metadata?: object; spec?: object }, RegExp])[] = [
      [{ metadata: { annotations: {} } }, /node "n1" can only create mirror pods$/],
      [{ spec: { nodeName: 'n2' } }, /can only create pods with spec\.nodeName set to itself$/],
      [{ metadata: { ownerReferences: [] } }, /with an owner reference set to itself$/],
      [
        { metadata: { ownerReferences: [owner, { ...owner, uid: 'u', controller: false }] } },
        /a single owner reference/,
      ],
      [{ metadata: { ownerReferences: [{ ...owner, controller: false }] } }, /a controller owner reference/],
      [{ metadata: { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] } }, /must not set blockOwnerDeletion/],
      [{ metadata: { ownerReferences: [{ ...owner, uid: 'u' }] } }, /node n1 UID mismatch: expected u got /],
      [{ spec: { serviceAccountName: 'robot' } }, /reference a service account$/],
      [{ spec: { volumes } }, /reference secrets$/],
      [{ spec: { containers: [{ name: 'c', image: 'i', env }] } }, /reference configmaps$/],
      [{ spec: { volumes: claim } }, /reference persistentvolumeclaims$/],
    ];
    for (const [over, message] of cases) {
      const body = await mirrorOf('bad', over);
      refused(await other.post(`${core}/pods`, body, as('n1')), message);
    }
    // Even a mirror pod that an administrator lets through grants nothing.
    await created(`${core}/pods`, await mirrorOf('by-admin', { spec: { volumes } }));
    refused(await other.get(`${core}/secrets/unused`, as('n1')), /no relationship found/);
  });

  it('lets a node touch pods that are bound to it', async () => {
    await created(`${core}/pods`, pod('mine', 'n1'));
    await created(`${core}/pods`, pod('theirs', 'n2'));
    const status = { status: { phase: 'Running' } };
    const update = (name: string, patch: object) =>
      other.patch(`${core}/pods/${name}/status`, 'merge', patch, as('n1'));
    assert.equal((await update('mine', status)).status, 200);
    refused(await update('theirs', status), /can only update pod status for pods with spec\.nodeName set to itself$/);
    const labelled = await update('mine', { metadata: { labels: { a: 'b' } } });
    if (labelled.status === 200) assert.equal(labelled.body.metadata.labels, undefined);
    else refused(labelled, /cannot update labels through pod status$/);
    const claiming = pod('claiming', 'n1');
    const resourceClaims = [{ name: 'c', resourceClaimTemplateName: 't' }];
    await created(`${core}/pods`, { ...claiming, spec: { ...claiming.spec, resourceClaims } });
    const claims = { status: { resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'of-another' }] } };
    refused(await update('claiming', claims), /cannot update resource claim statuses$/);
    const mirrored = await update('mine', { metadata: { annotations: { [mirror]: 'x' } } });
    assert.equal(mirrored.status, 422, mirrored.text);
    refused(await other.patch(`${core}/pods/mine`, 'merge', { spec: {} }, as('n1')), /cannot patch resource "pods"/);
    const evict = (name: string) =>
      other.post(
        `${core}/pods/${name}/eviction`,
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
        as('n1'),
      );
    refused(await evict('theirs'), /node n1 can only evict pods with spec\.nodeName set to itself$/);
    assert.equal((await evict('none')).status, 404);
    const remove = (name: string) => other.delete(`${core}/pods/${name}`, { gracePeriodSeconds: 0 }, as('n1'));
    refused(await remove('theirs'), /can only delete pods with spec\.nodeName set to itself$/);
    assert.equal((await remove('mine')).status, 200);
    assert.equal((await other.get(`${core}/pods/theirs`)).status, 200);
    const collection = await other.delete(`${core}/pods`, undefined, as('n1'));
    refused(collection, /cannot deletecollection resource "pods"/);
  });

  it('holds a node to its own Node', async () => {
    await created('/api/v1/nodes', { metadata: { name: 'self', labels: { 'kubernetes.io/os': 'linux' } } }, as('self'));
    refused(
      await other.post('/api/v1/nodes', { metadata: { name: 'another' } }, as('self')),
      'nodes "another" is forbidden: node "self" is not allowed to modify node "another"',
    );
    const path = '/api/v1/nodes/self';
    const patch = (body: object, target = path) => other.patch(target, 'strategic-merge', body, as('self'));
    const label = (key: string, value: string | null = 'x') => patch({ metadata: { labels: { [key]: value } } });
    for (const key of [
      'free',
      'example.com/x',
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
      'node.kubernetes.io/instance-type',
      'a.node.kubernetes.io/x',
      'nodeagent.kubernetes.io/x',
    ]) {
      assert.equal((await label(key)).status, 200, key);
    }
    for (const key of [
      'node-restriction.kubernetes.io/x',
      'team.node-restriction.kubernetes.io/x',
      'node-restriction.k8s.io/x',
      'node-role.kubernetes.io/control-plane',
      'kubernetes.io/x',
      'x.k8s.io/y',
    ]) {
      refused(await label(key), `nodes "self" is forbidden: is not allowed to modify labels: ${key}`);
      await admin.patch(path, 'merge', { metadata: { labels: { [key]: 'x' } } });
      refused(await label(key, null), /is not allowed to modify labels/);
    }
    const taints = [{ key: 'a', effect: 'NoSchedule' }];
    refused(await patch({ spec: { taints } }), /node "self" is not allowed to modify taints$/);
    assert.equal((await admin.patch(path, 'merge', { spec: { taints } })).status, 200);
    refused(await patch({ spec: { taints: null } }), /not allowed to modify taints$/);
    refused(
      await patch({ metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] } }),
      /not allowed to modify ownerReferences$/,
    );
    assert.equal((await patch({ status: { phase: 'Running' } }, `${path}/status`)).status, 200);
    refused(await patch({ status: {} }, '/api/v1/nodes/n1/status'), /not allowed to modify node "n1"$/);
    refused(await other.delete(path, undefined, as('self')), /cannot delete resource "nodes"/);
  });

  it('refuses to delete the own Node even to a node with the right', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const apiGroup = 'rbac.authorization.k8s.io';
    await created(`${rbac}/clusterroles`, {
      metadata: { name: 'delete-nodes' },
      rules: [
        { verbs: ['delete', 'update'], apiGroups: ['', 'storage.k8s.io'], resources: ['nodes', 'pods', 'csinodes'] },
      ],
    });
    await created(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'delete-nodes' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'delete-nodes' },
      subjects: [{ apiGroup, kind: 'User', name: 'system:node:n2' }],
    });
    const isRefused = async () =>
      (await other.delete('/api/v1/nodes/n2', undefined, as('n2'))).body.message ===
      'nodes "n2" is forbidden: node "n2" is not allowed to delete its node';
    await eventually(isRefused, 'the refusal by admission');
    assert.equal((await admin.get('/api/v1/nodes/n2')).status, 200);
    refused(await other.delete('/api/v1/nodes/n1', undefined, as('n2')), /not allowed to modify node "n1"$/);
    await created(`${core}/pods`, pod('owned', 'n2'));
    const { body: own } = await admin.get(`${core}/pods/owned`);
    refused(await other.put(`${core}/pods/owned`, own, as('n2')), /unexpected operation "UPDATE"/);
  });

  it('holds a node to its own lease and CSINode', async () => {
    await admin.post('/api/v1/namespaces', { metadata: { name: 'control-node-lease' } });
    const lease = (name: string) => ({ metadata: { name }, spec: { holderIdentity: name } });
    assert.equal((await other.post(leases, lease('n1'), as('n1'))).status, 201);
    assert.equal((await other.patch(`${leases}/n1`, 'merge', { spec: {} }, as('n1'))).status, 200);
    refused(await other.post(leases, lease('n2'), as('n1')), /can only access node lease with the same name/);
    await created(leases, lease('n2'));
    refused(await other.get(`${leases}/n2`, as('n1')), /can only access node lease with the same name/);
    refused(await other.get(leases, as('n1')), /can only get, create, update, patch, or delete a node lease$/);
    const elsewhere = leases.replace('control-node-lease', 'default');
    refused(await other.post(elsewhere, lease('n1'), as('n1')), /"control-node-lease" system namespace$/);
    assert.equal((await other.delete(`${leases}/n1`, undefined, as('n1'))).status, 200);

    const csiNode = (name: string) => ({ metadata: { name }, spec: { drivers: [] } });
    assert.equal((await other.post(csiNodes, csiNode('n1'), as('n1'))).status, 201);
    refused(await other.post(csiNodes, csiNode('n2'), as('n1')), /can only access CSINode with the same name/);
    refused(await other.get(csiNodes, as('n1')), /can only get, create, update, patch, or delete a CSINode$/);
  });

  it('lets a node report capacity and conditions of its claims only', async () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' };
    await created(`${core}/persistentvolumeclaims`, { metadata: { name: 'resized' }, spec: claim });
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'resized' } }];
    await created(`${core}/pods`, pod('of-resized', 'n1', { volumes }));
    const path = `${core}/persistentvolumeclaims/resized/status`;
    const patch = (body: object, node = 'n1') => other.patch(path, 'merge', body, as(node));
    const resize = async () => (await patch({ status: { capacity: { storage: '2Gi' } } })).status === 200;
    await eventually(resize, 'the relationship of the node with the claim');
    refused(await patch({ status: { phase: 'Lost' } }), /other than status\.capacity and status\.conditions$/);
    refused(await patch({ status: { capacity: { storage: '3Gi' } } }, 'n2'), /no relationship found/);
  });

  it('leaves everybody else alone', async () => {
    await created(`${core}/pods`, pod('of-admin', 'n1'));
    const labels = { 'node-restriction.kubernetes.io/x': 'y' };
    assert.equal((await admin.patch('/api/v1/nodes/n1', 'merge', { metadata: { labels } })).status, 200);
  });
});
