import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';
const claims = `${core}/persistentvolumeclaims`;
const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const storageClasses = '/apis/storage.k8s.io/v1/storageclasses';
const ingressClasses = '/apis/networking.k8s.io/v1/ingressclasses';

let cluster: TestCluster;
let admin: ApiClient;
/** The second process, which learns everything from the log. */
let other: ApiClient;

before(async () => {
  // The tests bind claims themselves, in ways that the control loop would correct.
  const controllerFlags = ['--controllers=*,-persistentvolume-binder'];
  cluster = await TestCluster.start({ servers: 2, controllers: true, controllerFlags });
  admin = cluster.first.client;
  other = cluster.second.client;
});

after(() => cluster?.stop());

async function created(path: string, body: unknown) {
  const answer = await admin.post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const storageClass = (name: string, annotations: object = {}, fields: object = {}) => ({
  metadata: { name, annotations },
  provisioner: 'd.example.com',
  ...fields,
});
const standard = { 'storageclass.kubernetes.io/is-default-class': 'true' };

/** Waits until a dry run of a create has the expected result on both processes. */
async function known(path: string, body: object, what: string, holds: (answer: ApiResponse) => boolean) {
  for (const client of [admin, other]) {
    await eventually(async () => holds(await client.post(`${path}?dryRun=All`, body)), what);
  }
}

describe('default classes', () => {
  it('come to new claims and ingresses of every process, until there are two defaults', async () => {
    const without = await admin.post(`${claims}?dryRun=All`, claim('a'));
    assert.equal(without.body.spec.storageClassName, undefined);
    await created(storageClasses, storageClass('plain'));
    await created(storageClasses, storageClass('standard', standard));
    await known(claims, claim('a'), 'the default class', ({ body }) => body.spec?.storageClassName === 'standard');
    const none = await other.post(`${claims}?dryRun=All`, claim('a', { storageClassName: '' }));
    assert.equal(none.body.spec.storageClassName, '');

    const rule = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
    const marked = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
    await created(ingressClasses, {
      metadata: { name: 'front', annotations: marked },
      spec: { controller: 'example.com/front' },
    });
    const ingress = { metadata: { name: 'a' }, spec: rule };
    await known(ingresses, ingress, 'the default ingress class', ({ body }) => body.spec?.ingressClassName === 'front');

    await created(storageClasses, storageClass('second', standard));
    await known(claims, claim('a'), 'two defaults', ({ status }) => status === 403);
    const refused = await other.post(claims, claim('a'));
    const detail = 'Internal error occurred: 2 default StorageClasses were found';
    assert.equal(refused.body.message, `persistentvolumeclaims "a" is forbidden: ${detail}`);
    assert.equal((await other.post(`${claims}?dryRun=All`, claim('a', { storageClassName: 'plain' }))).status, 201);
    await admin.delete(`${storageClasses}/second`);
    await known(claims, claim('a'), 'one default again', ({ body }) => body.spec?.storageClassName === 'standard');
  });
});

describe('the protection of storage in use', () => {
  it('keeps a claim until the last pod that uses it has gone', async () => {
    const made = await created(claims, claim('data', { storageClassName: '' }));
    assert.deepEqual(made.metadata.finalizers, ['kubernetes.io/pvc-protection']);
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], volumes, serviceAccountName: 'default' };
    // A control loop creates the account.
    await eventually(async () => (await admin.get(`${core}/serviceaccounts/default`)).status === 200, 'the account');
    await created(`${core}/pods`, { metadata: { name: 'user' }, spec });
    await admin.delete(`${claims}/data`);
    await created(claims, claim('idle', { storageClassName: '' }));
    await admin.delete(`${claims}/idle`);
    await eventually(async () => (await other.get(`${claims}/idle`)).status === 404, 'the idle claim gone');
    const held = await other.get(`${claims}/data`);
    assert.notEqual(held.body.metadata.deletionTimestamp, undefined);
    await admin.delete(`${core}/pods/user`, { gracePeriodSeconds: 0 });
    await eventually(async () => (await other.get(`${claims}/data`)).status === 404, 'the claim gone');
  });

  it('keeps a volume while it is bound', async () => {
    const volumes = '/api/v1/persistentvolumes';
    const made = await created(volumes, {
      metadata: { name: 'disk' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } },
    });
    assert.deepEqual(made.metadata.finalizers, ['kubernetes.io/pv-protection']);
    const phase = (value: string) => admin.patch(`${volumes}/disk/status`, 'merge', { status: { phase: value } });
    assert.equal((await phase('Bound')).status, 200);
    await admin.delete(`${volumes}/disk`);
    assert.equal((await phase('Released')).status, 200);
    await eventually(async () => (await other.get(`${volumes}/disk`)).status === 404, 'the volume gone');
  });

  it('lets a namespace with claims go', async () => {
    await created('/api/v1/namespaces', { metadata: { name: 'short' } });
    await created('/api/v1/namespaces/short/persistentvolumeclaims', claim('a', { storageClassName: '' }));
    await admin.delete('/api/v1/namespaces/short');
    await eventually(async () => (await other.get('/api/v1/namespaces/short')).status === 404, 'the namespace gone');
  });
});

describe('PersistentVolumeClaimResize', () => {
  it('lets a bound claim grow only if its class allows it', async () => {
    await created(storageClasses, storageClass('grows', {}, { allowVolumeExpansion: true }));
    for (const [name, storageClassName] of [
      ['elastic', 'grows'],
      ['rigid', 'plain'],
    ] as const) {
      await created(claims, claim(name, { storageClassName, volumeName: `pv-${name}` }));
      const bound = await admin.patch(`${claims}/${name}/status`, 'merge', {
        status: { phase: 'Bound', capacity: { storage: '1Gi' } },
      });
      assert.equal(bound.status, 200, bound.text);
    }
    const larger = { spec: { resources: { requests: { storage: '2Gi' } } } };
    // A class that another process has just created is read from the database if the cache lacks it.
    const grown = await other.patch(`${claims}/elastic`, 'merge', larger);
    assert.equal(grown.status, 200, grown.text);
    const refused = await other.patch(`${claims}/rigid`, 'merge', larger);
    assert.equal(refused.status, 403, refused.text);
    assert.match(
      refused.body.message,
      /^persistentvolumeclaims "rigid" is forbidden: only dynamically provisioned pvc/,
    );
  });
});
