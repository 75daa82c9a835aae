import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiRequest, ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';

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

describe('the mode Node', () => {
  const unrelated = /: no relationship found between node 'n[12]' and this object$/;

  before(async () => {
    for (const name of ['volume', 'env', 'env-from', 'pull', 'projected', 'csi', 'unused']) {
      await created(`${core}/secrets`, { metadata: { name } });
      await created(`${core}/configmaps`, { metadata: { name } });
    }
    await created(`${core}/serviceaccounts`, { metadata: { name: 'robot' } });
    for (const name of ['data', 'web-scratch']) {
      const resources = { requests: { storage: '1Gi' } };
      const spec = { accessModes: ['ReadWriteOnce'], resources, storageClassName: '' };
      await created(`${core}/persistentvolumeclaims`, { metadata: { name }, spec });
    }
    await created('/api/v1/persistentvolumes', {
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'default', name: 'data' },
        csi: {
          driver: 'd.example.com',
          volumeHandle: 'v',
          nodeStageSecretRef: { namespace: 'default', name: 'csi' },
          controllerPublishSecretRef: { namespace: 'default', name: 'unused' },
        },
      },
    });
    await created('/apis/storage.k8s.io/v1/volumeattachments', {
      metadata: { name: 'attached' },
      spec: { attacher: 'd.example.com', nodeName: 'n1', source: { persistentVolumeName: 'disk' } },
    });
    const container = {
      name: 'c',
      image: 'i',
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } },
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'env', key: 'k' } } },
      ],
      envFrom: [{ secretRef: { name: 'env-from' } }, { configMapRef: { name: 'env-from' } }],
    };
    const claimTemplate = {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await created(
      `${core}/pods`,
      pod('web', 'n1', {
        serviceAccountName: 'robot',
        imagePullSecrets: [{ name: 'pull' }],
        containers: [container],
        volumes: [
          { name: 'a', secret: { secretName: 'volume' } },
          { name: 'b', configMap: { name: 'volume' } },
          {
            name: 'c',
            projected: {
              sources: [
                { secret: { name: 'projected' } },
                { configMap: { name: 'projected' } },
                { serviceAccountToken: { path: 'token' } },
              ],
            },
          },
          { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
          { name: 'scratch', ephemeral: { volumeClaimTemplate: claimTemplate } },
        ],
      }),
    );
    await created(`${core}/pods`, pod('elsewhere', 'n2'));
  });

  it('lets a node read what its pods refer to, and no other node', async () => {
    const paths = [
      ...['volume', 'env', 'env-from', 'pull', 'projected', 'csi'].map((name) => `${core}/secrets/${name}`),
      ...['volume', 'env', 'env-from', 'projected'].map((name) => `${core}/configmaps/${name}`),
      `${core}/persistentvolumeclaims/data`,
      `${core}/persistentvolumeclaims/web-scratch`,
      '/api/v1/persistentvolumes/disk',
      '/apis/storage.k8s.io/v1/volumeattachments/attached',
    ];
    for (const path of paths) {
      assert.equal((await other.get(path, as('n1'))).status, 200, path);
      refused(await other.get(path, as('n2')), unrelated);
    }
    refused(await other.get(`${core}/secrets/unused`, as('n1')), unrelated);
    refused(await other.get(`${core}/configmaps/unused`, as('n1')), unrelated);
  });

  it('gives the same answer for existing and missing objects', async () => {
    const hidden = await other.get(`${core}/secrets/unused`, as('n1'));
    const missing = await other.get(`${core}/secrets/nothing`, as('n1'));
    refused(missing, unrelated);
    assert.equal(missing.text.replaceAll('nothing', 'unused'), hidden.text);
  });

  it('lists and watches single objects only', async () => {
    const one = '?fieldSelector=metadata.name%3Dvolume';
    const list = await other.get(`${core}/secrets${one}`, as('n1'));
    assert.deepEqual(
      list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['volume'],
    );
    const watch = await other.watch(`${core}/secrets${one}&watch=1`, as('n1'));
    assert.equal(watch.status, 200);
    watch.close();
    refused(await other.get(`${core}/secrets${one}`, as('n2')), unrelated);
    for (const query of ['', '?watch=1', '?fieldSelector=metadata.name!%3Dvolume', '?labelSelector=a']) {
      refused(await other.get(`${core}/secrets${query}`, as('n1')), /: No Object name found$/);
    }
    refused(await other.get('/api/v1/secrets', as('n1')), /can only read namespaced object of this type$/);
    refused(await other.get(`/api/v1/secrets${one}`, as('n1')), /can only read namespaced object of this type$/);
    refused(await other.delete(`${core}/secrets/volume`, undefined, as('n1')), /can only read resources of this type$/);
    refused(await other.get(`${core}/persistentvolumeclaims`, as('n1')), /can only get individual resources/);
    const several = '?fieldSelector=metadata.name%3Dvolume,metadata.name%3Dunused';
    const both = await other.get(`${core}/secrets${several}`, as('n1'));
    assert.ok(both.status === 403 || both.body.items.length === 0, both.text);
  });

  it('sees at once a pod that another process has just bound', async () => {
    for (let i = 0; i < 15; i++) {
      await created(`${core}/secrets`, { metadata: { name: `fresh-${i}` } });
      const volumes = [{ name: 'v', secret: { secretName: `fresh-${i}` } }];
      const name = `fresh-${i}`;
      const body = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], volumes } };
      await created(`${core}/pods`, body);
      if (i === 0) refused(await other.get(`${core}/secrets/fresh-${i}`, as('n2')), unrelated);
      await created(`${core}/pods/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: 'n2' } });
      assert.equal((await other.get(`${core}/secrets/fresh-${i}`, as('n2'))).status, 200);
    }
  });

  it('revokes the right when the pod is gone', async () => {
    await created(`${core}/secrets`, { metadata: { name: 'short' } });
    const volumes = [{ name: 'v', secret: { secretName: 'short' } }];
    await created(`${core}/pods`, pod('short', 'n1', { volumes }));
    assert.equal((await other.get(`${core}/secrets/short`, as('n1'))).status, 200);
    await admin.delete(`${core}/pods/short`, { gracePeriodSeconds: 0 });
    const denied = async () => (await other.get(`${core}/secrets/short`, as('n1'))).status === 403;
    await eventually(denied, 'a denial after the pod is gone');
  });

  it('gives every node the common rules, and nodes alone', async () => {
    for (const path of ['/api/v1/services', '/apis/node.k8s.io/v1/runtimeclasses']) {
      assert.equal((await other.get(path, as('n1'))).status, 200, path);
    }
    refused(await other.get('/apis/apps/v1/deployments', as('n1')), /cannot list resource "deployments"/);
    // Without groups in the certificate, the name of a node would imply the group of nodes.
    const stranger = { headers: { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'strangers' } };
    refused(await other.get(`${core}/secrets/volume`, stranger), /cannot get resource "secrets"/);
    const nameless = { headers: { 'impersonate-user': 'system:node:', 'impersonate-group': 'system:nodes' } };
    refused(await other.get('/api/v1/nodes', nameless), /unknown node for user "system:node:"$/);
  });

  it('lets a node read its own pods and its own node', async () => {
    const own = '?fieldSelector=spec.nodeName%3Dn1';
    const { status, body } = await other.get(`/api/v1/pods${own}`, as('n1'));
    assert.equal(status, 200);
    const nodes = body.items.map(({ spec }: { spec: { nodeName: string } }) => spec.nodeName);
    assert.deepEqual([...new Set(nodes)], ['n1']);
    const watch = await other.watch(`/api/v1/pods${own}&watch=1`, as('n1'));
    assert.equal(watch.status, 200);
    watch.close();
    assert.equal((await other.get(`${core}/pods/web`, as('n1'))).status, 200);
    const bySelector = /node: can only list\/watch pods with spec.nodeName field selector$/;
    for (const query of ['', '?watch=1', '?fieldSelector=spec.nodeName%3Dn2', '?fieldSelector=spec.nodeName!%3Dn2']) {
      refused(await other.get(`/api/v1/pods${query}`, as('n1')), bySelector);
    }
    refused(await other.get(`${core}/pods/web`, as('n2')), unrelated);
    for (const path of ['/api/v1/nodes', '/api/v1/nodes/n2', '/api/v1/nodes?fieldSelector=metadata.name%3Dn2']) {
      refused(await other.get(path, as('n1')), /only its own Node object$/);
    }
    const both = '/api/v1/nodes?fieldSelector=metadata.name%3Dn2,metadata.name%3Dn1';
    refused(await other.get(both, as('n2')), /only its own Node object$/);
    // The Node object need not exist yet.
    assert.equal((await other.get('/api/v1/nodes?fieldSelector=metadata.name%3Dn9', as('n9'))).status, 200);
    const review = async (selector: object) => {
      const spec = {
        user: 'system:node:n1',
        groups: ['system:nodes'],
        resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector: selector },
      };
      return (await other.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).body.status;
    };
    const requirement = (operator: string, ...values: string[]) => ({ key: 'spec.nodeName', operator, values });
    assert.deepEqual(await review({ rawSelector: 'spec.nodeName=n1' }), { allowed: true });
    assert.deepEqual(await review({ requirements: [requirement('In', 'n1')] }), { allowed: true });
    assert.equal((await review({ requirements: [requirement('In', 'n2')] })).allowed, false);
    const partly = await review({ requirements: [requirement('In', 'n1', 'n2'), requirement('In', 'n1')] });
    const ignored = 'ignored due to parse error';
    assert.deepEqual(partly, {
      allowed: true,
      evaluationError: `spec.resourceAttributes.fieldSelector partially ${ignored}`,
    });
    // Newer clients may know more operators; unknown ones are refused.
    const newer = await review({ requirements: [requirement('In', 'n1'), requirement('Near', 'n2')] });
    assert.deepEqual(newer, partly);
    const asked = async (selectors: object) =>
      other.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: { user: 'u', resourceAttributes: { verb: 'list', resource: 'pods', ...selectors } },
      });
    const label = (key: string, operator: string, ...values: string[]) => ({
      labelSelector: { requirements: [{ key, operator, values }] },
    });
    assert.equal((await asked(label('a', 'Near', 'b'))).status, 201);
    for (const [selectors, field] of [
      [label('a b!', 'In', 'b'), 'labelSelector.requirements[0].key'],
      [label('a', 'Near', 'b c!'), 'labelSelector.requirements[0].values[0]'],
      [{ fieldSelector: { requirements: [{ key: '', operator: 'Near' }] } }, 'fieldSelector.requirements[0].key'],
      [{ fieldSelector: {} }, 'fieldSelector.requirements'],
    ] as const) {
      const { status, body } = await asked(selectors);
      assert.equal(status, 422);
      assert.deepEqual(
        body.details.causes.map((cause: { field: string }) => cause.field),
        [`spec.resourceAttributes.${field}`],
      );
    }
    const broken = await review({ rawSelector: 'spec.nodeName' });
    assert.equal(broken.allowed, false);
    assert.equal(broken.evaluationError, `spec.resourceAttributes.fieldSelector ${ignored}`);
  });

  it('gives tokens of accounts that pods on the node have', async () => {
    const { body: bound } = await admin.get(`${core}/pods/web`);
    const request = (uid = bound.metadata.uid, name = 'web') => ({
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
    });
    const path = `${core}/serviceaccounts/robot/token`;
    const given = await other.post(path, request(), as('n1'));
    assert.equal(given.status, 201, given.text);
    assert.match(given.body.status.token, /^ey/);
    refused(await other.post(path, request(), as('n2')), unrelated);
    refused(await other.post(path, { spec: { audiences: ['a'] } }, as('n1')), /not bound to a pod$/);
    refused(await other.post(path, request(''), as('n1')), /without a uid$/);
    refused(await other.post(path, request('other'), as('n1')), /does not match the UID in record/);
    const { body: foreign } = await admin.get(`${core}/pods/elsewhere`);
    const elsewhere = request(foreign.metadata.uid, 'elsewhere');
    refused(await other.post(path, elsewhere, as('n1')), /bound to a pod scheduled on a different node$/);
    refused(await other.post(`${core}/serviceaccounts/default/token`, request(), as('n2')), unrelated);
  });

  it('gives tokens for audiences that the pod needs, or that the node may ask for', async () => {
    const account = 'reader';
    await created(`${core}/serviceaccounts`, { metadata: { name: account } });
    for (const [name, audience] of [
      ['inline.csi', 'of-inline'],
      ['disk.csi', 'of-disk'],
      ['scratch.csi', 'of-scratch'],
      ['other.csi', 'of-nobody'],
    ] as const) {
      const spec = { tokenRequests: [{ audience }], requiresRepublish: true, volumeLifecycleModes: ['Ephemeral'] };
      await created('/apis/storage.k8s.io/v1/csidrivers', { metadata: { name }, spec });
    }
    const resources = { requests: { storage: '1Gi' } };
    const claim = (volumeName: string) => ({
      accessModes: ['ReadWriteOnce'],
      resources,
      storageClassName: '',
      volumeName,
    });
    const volume = (driver: string) => ({
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      csi: { driver, volumeHandle: 'h' },
    });
    await created('/api/v1/persistentvolumes', { metadata: { name: 'reader-disk' }, spec: volume('disk.csi') });
    await created('/api/v1/persistentvolumes', { metadata: { name: 'reader-scratch' }, spec: volume('scratch.csi') });
    await created(`${core}/persistentvolumeclaims`, { metadata: { name: 'reader-data' }, spec: claim('reader-disk') });
    const volumes = [
      { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'of-volume' } }] } },
      { name: 'i', csi: { driver: 'inline.csi' } },
      { name: 'd', persistentVolumeClaim: { claimName: 'reader-data' } },
      { name: 's', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources } } } },
      { name: 'missing', persistentVolumeClaim: { claimName: 'nowhere' } },
    ];
    const spec = { serviceAccountName: account, automountServiceAccountToken: false, volumes };
    const made = await created(`${core}/pods`, pod('reader', 'n1', spec));
    const { uid } = made.metadata;
    const path = `${core}/serviceaccounts/${account}/token`;
    const ask = (...audiences: string[]) =>
      other.post(
        path,
        { spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'reader', uid } } },
        as('n1'),
      );
    const isGiven = async (...audiences: string[]) => {
      const answer = await ask(...audiences);
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(answer.body.spec.audiences, audiences);
    };
    const isRefused = async (audience: string) =>
      refused(
        await ask(...(audience === '' ? [] : [audience])),
        `serviceaccounts "reader" is forbidden: audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`,
      );
    await eventually(async () => (await ask('of-volume')).status === 201, 'the node to know the pod');
    for (const audience of ['of-volume', 'of-inline', 'of-disk']) await isGiven(audience);
    // The pod has no token for the server itself.
    for (const audience of ['', 'of-nobody', 'vault']) await isRefused(audience);
    refused(await ask('of-volume', 'of-inline'), /node may only request 0 or 1 audiences$/);
    // A claim with the name of the ephemeral one counts only if it belongs to the pod.
    const scratch = `${core}/persistentvolumeclaims`;
    await created(scratch, { metadata: { name: 'reader-s' }, spec: claim('reader-scratch') });
    await isRefused('of-scratch');
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'reader', uid }];
    const owned = await admin.patch(`${scratch}/reader-s`, 'merge', { metadata: { ownerReferences } });
    assert.equal(owned.status, 200, owned.text);
    await isGiven('of-scratch');
    // Other requests depend on rights.
    const rights = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rule = {
      apiGroups: [''],
      resources: ['vault'],
      resourceNames: [account],
      verbs: ['request-serviceaccounts-token-audience'],
    };
    await created(`${rights}/roles`, { metadata: { name: 'vault' }, rules: [rule] });
    await created(`${rights}/rolebindings`, {
      metadata: { name: 'vault' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'vault' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
    });
    await eventually(async () => (await ask('vault')).status === 201, 'the right to have arrived');
    await isRefused('other');
    // A user who is not a node may request any signer.
    const free = await other.post(path, { spec: { audiences: ['vault', 'anything'] } });
    assert.equal(free.status, 201, free.text);
  });

  it('answers access reviews about nodes', async () => {
    const review = async (node: string) => {
      const spec = {
        user: `system:node:${node}`,
        groups: ['system:nodes'],
        resourceAttributes: { namespace: 'default', verb: 'get', resource: 'secrets', name: 'volume' },
      };
      return (await other.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).body.status;
    };
    assert.deepEqual(await review('n1'), { allowed: true });
    const reason = "node: no relationship found between node 'n2' and this object";
    assert.deepEqual(await review('n2'), { allowed: false, reason });
    const rules = await other.post(
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      { spec: { namespace: 'default' } },
      as('n1'),
    );
    assert.equal(rules.status, 201, rules.text);
    assert.equal(rules.body.status.incomplete, true);
    assert.match(rules.body.status.evaluationError, /^node authorizer does not support user rule resolution$/);
  });
});
