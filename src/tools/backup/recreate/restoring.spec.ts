import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject, ObjectMeta } from '../../../base/machinery/api-object.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { cleanForCreate, type KeptFields } from './clean-for-create.js';
import { creationOrder, kindRank, plainKind } from './creation-order.js';
import { leftOut } from './made-by-itself.js';
import { mapOwners } from './map-owners.js';

function object(apiVersion: string, kind: string, metadata: ObjectMeta, rest: object = {}): ApiObject {
  return { apiVersion, kind, metadata, ...rest };
}

function ownedBy(...uids: string[]) {
  return {
    ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid, controller: true })),
  };
}

describe('the order of creation', () => {
  it('knows kinds in the spelling of any vendor', () => {
    const cases: readonly [string, string, string][] = [
      ['v1', 'Pod', '/Pod'],
      ['apps/v1', 'Deployment', 'apps/Deployment'],
      ['rbac.authorization.k8s.io/v1', 'Role', 'rbac.authorization/Role'],
      ['rbac.authorization.example.org/v1', 'Role', 'rbac.authorization/Role'],
      ['extensions/v1beta1', 'Ingress', 'networking/Ingress'],
      ['example.com/v1', 'Deployment', 'example.com/Deployment'],
      ['storageextra.example.com/v1', 'StorageClass', 'storageextra.example.com/StorageClass'],
    ];
    for (const [apiVersion, kind, name] of cases) assert.equal(plainKind(apiVersion, kind), name);
  });

  it('goes from what others need to what would refuse others', () => {
    const kinds: readonly [string, string][] = [
      ['v1', 'Namespace'],
      ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
      ['storage.k8s.io/v1', 'StorageClass'],
      ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
      ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
      ['v1', 'ServiceAccount'],
      ['v1', 'ConfigMap'],
      ['v1', 'PersistentVolume'],
      ['v1', 'PersistentVolumeClaim'],
      ['example.com/v1', 'Thing'],
      ['v1', 'Service'],
      ['apps/v1', 'Deployment'],
      ['apps/v1', 'ReplicaSet'],
      ['v1', 'Pod'],
      ['v1', 'ResourceQuota'],
      ['apiregistration.k8s.io/v1', 'APIService'],
      ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
    ];
    const found = kinds.map(([apiVersion, kind]) => kindRank(apiVersion, kind));
    assert.deepEqual(
      found,
      [...new Set(found)].sort((a, b) => a - b),
    );
  });

  it('puts owners before what they own, whatever their kinds, and survives circles and long chains', () => {
    const names = (objects: readonly ApiObject[]) => creationOrder(objects).map(({ metadata }) => metadata.name);
    const chain = Array.from({ length: 20_000 }, (_, i) =>
      object('v1', 'ConfigMap', { name: String(i), uid: `u${i}`, ...ownedBy(`u${i + 1}`) }),
    );
    assert.deepEqual(names(chain).slice(0, 2), ['19999', '19998']);
    assert.equal(new Set(names(chain)).size, 20_000);

    const pod = object('v1', 'Pod', { name: 'pod', uid: 'p' });
    const map = object('v1', 'ConfigMap', { name: 'map', uid: 'm', ...ownedBy('p', 'gone') });
    const space = object('v1', 'Namespace', { name: 'space', uid: 'n' });
    assert.deepEqual(names([map, pod, space]), ['space', 'pod', 'map']);

    const circle = [
      object('v1', 'ConfigMap', { name: 'a', uid: 'a', ...ownedBy('b') }),
      object('v1', 'ConfigMap', { name: 'b', uid: 'b', ...ownedBy('a') }),
      object('v1', 'ConfigMap', { name: 'c', uid: 'c', ...ownedBy('c') }),
    ];
    assert.deepEqual(names(circle).sort(), ['a', 'b', 'c']);
  });

  it('is the same for the same objects in any order', () => {
    const objects = ['b', 'a'].flatMap((name) => [
      object('v1', 'Pod', { name, namespace: 'x' }),
      object('v1', 'Secret', { name, namespace: 'x' }),
    ]);
    assert.deepEqual(creationOrder(objects), creationOrder(objects.toReversed()));
  });
});

describe('an object made ready for its creation', () => {
  it('has nothing that a server sets', () => {
    const live = object(
      'v1',
      'ConfigMap',
      {
        name: 'a',
        namespace: 'x',
        generateName: 'a-',
        uid: 'u',
        resourceVersion: '7',
        generation: 2,
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 30,
        selfLink: '/a',
        managedFields: [{ manager: 'm' }],
        labels: { l: '1' },
        annotations: { n: '2' },
        finalizers: ['f'],
      },
      { data: { k: 'v' }, status: { s: 1 } },
    );
    const before = JSON.stringify(live);
    assert.deepEqual(cleanForCreate(live), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'x', labels: { l: '1' }, annotations: { n: '2' }, finalizers: ['f'] },
      data: { k: 'v' },
    });
    assert.deepEqual(cleanForCreate(live, { status: true }).status, { s: 1 });
    assert.equal(JSON.stringify(live), before, 'the object was changed');
  });

  it('keeps the spelling of numbers', () => {
    const text = '{"apiVersion":"e.com/v1","kind":"T","metadata":{"name":"a"},"spec":{"a":9007199254740993,"b":1.0}}';
    assert.equal(JSON.stringify(cleanForCreate(parseJson(text) as ApiObject)), text);
  });

  const cases: readonly {
    readonly of: string;
    readonly apiVersion?: string;
    readonly kind: string;
    readonly annotations?: Record<string, string>;
    readonly given: object;
    readonly keep?: KeptFields;
    readonly clean: object;
    readonly otherAnnotations?: Record<string, string>;
  }[] = [
    { of: 'a namespace', kind: 'Namespace', given: { spec: { finalizers: ['kubernetes'] } }, clean: { spec: {} } },
    {
      of: 'a service',
      kind: 'Service',
      given: {
        spec: {
          clusterIP: '10.0.0.1',
          clusterIPs: ['10.0.0.1'],
          ipFamilies: ['IPv4'],
          healthCheckNodePort: 30001,
          ports: [{ port: 80, nodePort: 30000 }],
        },
      },
      clean: { spec: { ports: [{ port: 80 }] } },
    },
    {
      of: 'a service with its addresses',
      kind: 'Service',
      keep: { addresses: true },
      given: { spec: { clusterIP: '10.0.0.1', ports: [{ nodePort: 30000 }] } },
      clean: { spec: { clusterIP: '10.0.0.1', ports: [{ nodePort: 30000 }] } },
    },
    {
      of: 'a headless service',
      kind: 'Service',
      given: { spec: { clusterIP: 'None', clusterIPs: ['None'] } },
      clean: { spec: { clusterIP: 'None', clusterIPs: ['None'] } },
    },
    {
      of: 'a pod',
      kind: 'Pod',
      given: { spec: { nodeName: 'n', priority: 5, preemptionPolicy: 'Never', priorityClassName: 'c' } },
      clean: { spec: { priorityClassName: 'c' } },
    },
    {
      of: 'a pod at its node',
      kind: 'Pod',
      keep: { nodeNames: true },
      given: { spec: { nodeName: 'n' } },
      clean: { spec: { nodeName: 'n' } },
    },
    {
      of: 'a token of an account',
      kind: 'Secret',
      annotations: { 'kubernetes.io/service-account.name': 'a', 'kubernetes.io/service-account.uid': 'u' },
      given: { type: 'kubernetes.io/service-account-token', data: { token: 'dA==' } },
      clean: { type: 'kubernetes.io/service-account-token' },
      otherAnnotations: { 'kubernetes.io/service-account.name': 'a' },
    },
    { of: 'a secret', kind: 'Secret', given: { data: { a: 'dA==' } }, clean: { data: { a: 'dA==' } } },
    {
      of: 'a volume',
      kind: 'PersistentVolume',
      given: { spec: { claimRef: { name: 'c', namespace: 'x', uid: 'u', resourceVersion: '1' } } },
      clean: { spec: { claimRef: { name: 'c', namespace: 'x' } } },
    },
    {
      of: 'a claim whose volume is not there',
      kind: 'PersistentVolumeClaim',
      annotations: {
        'pv.kubernetes.io/bind-completed': 'yes',
        'pv.kubernetes.io/bound-by-controller': 'yes',
        'volume.kubernetes.io/selected-node': 'n',
        'volume.beta.kubernetes.io/storage-provisioner': 'p',
        mine: '1',
      },
      given: { spec: { volumeName: 'v', storageClassName: 's' } },
      clean: { spec: { storageClassName: 's' } },
      otherAnnotations: { mine: '1' },
    },
    {
      of: 'a claim whose volume is there',
      kind: 'PersistentVolumeClaim',
      keep: { hasVolume: (name) => name === 'v' },
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
      given: { spec: { volumeName: 'v' } },
      clean: { spec: { volumeName: 'v' } },
      otherAnnotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' },
    },
    {
      of: 'a job',
      apiVersion: 'batch/v1',
      kind: 'Job',
      given: {
        spec: {
          selector: { matchLabels: { 'controller-uid': 'u' } },
          template: { metadata: { labels: { 'controller-uid': 'u', 'batch.kubernetes.io/job-name': 'j', mine: '1' } } },
        },
      },
      clean: { spec: { template: { metadata: { labels: { mine: '1' } } } } },
    },
    {
      of: 'a job with a selector of its own',
      apiVersion: 'batch/v1',
      kind: 'Job',
      given: { spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } } } },
      clean: { spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } } } },
    },
    { of: 'an object of another shape', kind: 'Service', given: { spec: 'text' }, clean: { spec: 'text' } },
    {
      of: 'a kind of the same name in another group',
      apiVersion: 'example.com/v1',
      kind: 'Pod',
      given: { spec: { nodeName: 'n' } },
      clean: { spec: { nodeName: 'n' } },
    },
  ];
  for (const { of, apiVersion = 'v1', kind, annotations, given, keep, clean, otherAnnotations } of cases) {
    it(`is right for ${of}`, () => {
      const metadata = { name: 'a', ...(annotations === undefined ? {} : { annotations }) };
      const expected = { name: 'a', ...(annotations === undefined ? {} : { annotations: otherAnnotations ?? {} }) };
      assert.deepEqual(
        cleanForCreate(object(apiVersion, kind, metadata, given), keep),
        object(apiVersion, kind, expected as ObjectMeta, clean),
      );
    });
  }
});

describe('the owners of an object', () => {
  const uids = new Map([['old', 'new']]);

  it('get their new uids, and those that have none are lost', () => {
    const { object: mapped, lost } = mapOwners(object('v1', 'Pod', { name: 'a', ...ownedBy('old', 'gone') }), uids);
    assert.deepEqual(
      mapped.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
      [['new', true]],
    );
    assert.deepEqual(
      lost.map(({ uid }) => uid),
      ['gone'],
    );
    const orphan = mapOwners(object('v1', 'Pod', { name: 'a', ...ownedBy('gone') }), uids).object;
    assert.equal('ownerReferences' in orphan.metadata, false);
  });

  it('are in labels of pods of jobs too', () => {
    const labels = { 'controller-uid': 'old', 'batch.kubernetes.io/controller-uid': 'old', mine: 'old' };
    const { object: mapped } = mapOwners(object('v1', 'Pod', { name: 'a', labels, ...ownedBy('old') }), uids);
    assert.deepEqual(mapped.metadata.labels, {
      'controller-uid': 'new',
      'batch.kubernetes.io/controller-uid': 'new',
      mine: 'old',
    });
  });
});

describe('what a cluster makes by itself', () => {
  const owner = (apiVersion: string, kind: string) => ({
    ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'u', controller: true }],
  });
  const cases: readonly [string, ApiObject, string | undefined][] = [
    ['a node', object('v1', 'Node', { name: 'n' }), 'own'],
    ['a bare pod', object('v1', 'Pod', { name: 'p' }), undefined],
    ['a pod of a replica set', object('v1', 'Pod', { name: 'p', ...owner('apps/v1', 'ReplicaSet') }), 'derived'],
    ['a pod of a custom kind', object('v1', 'Pod', { name: 'p', ...owner('example.com/v1', 'Job') }), undefined],
    ['a pod that has ended', object('v1', 'Pod', { name: 'p' }, { status: { phase: 'Succeeded' } }), 'ended'],
    [
      'a job that has ended',
      object('batch/v1', 'Job', { name: 'j' }, { status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
      'ended',
    ],
    ['a job', object('batch/v1', 'Job', { name: 'j' }), undefined],
    ['a replica set', object('apps/v1', 'ReplicaSet', { name: 'r', ...owner('apps/v1', 'Deployment') }), undefined],
    ['an object that leaves', object('v1', 'ConfigMap', { name: 'c', deletionTimestamp: 't' }), 'leaving'],
    [
      'a default role',
      object('rbac.authorization.k8s.io/v1', 'ClusterRole', {
        name: 'edit',
        labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
      }),
      'own',
    ],
    ['a role', object('rbac.authorization.k8s.io/v1', 'ClusterRole', { name: 'mine' }), undefined],
    ['the service of the API', object('v1', 'Service', { name: 'kubernetes', namespace: 'default' }), 'own'],
    ['a service', object('v1', 'Service', { name: 'kubernetes', namespace: 'shop' }), undefined],
    [
      'an API of the server itself',
      object('apiregistration.k8s.io/v1', 'APIService', { name: 'v1.apps' }, { spec: {} }),
      'own',
    ],
    [
      'an API of another server',
      object('apiregistration.k8s.io/v1', 'APIService', { name: 'v1.e.com' }, { spec: { service: { name: 's' } } }),
      undefined,
    ],
    [
      'a slice of a service',
      object('discovery.k8s.io/v1', 'EndpointSlice', {
        name: 's',
        labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
      }),
      'derived',
    ],
    ['a slice made by hand', object('discovery.k8s.io/v1', 'EndpointSlice', { name: 's' }), undefined],
    ['settings of the API', object('v1', 'ConfigMap', { name: 'extension-apiserver-authentication' }), 'own'],
    ['an authority', object('v1', 'ConfigMap', { name: 'kube-root-ca.crt' }), 'own'],
  ];
  for (const [what, given, rule] of cases) {
    it(`is reported: ${what}`, () => assert.equal(leftOut(given)?.rule, rule));
  }
});
