import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testClock, testNames, testTime } from '../../../../test/support/definition-tester.js';
import { persistentVolumeResource } from './persistent-volume.resource.js';

const tester = new DefinitionTester(persistentVolumeResource(testNames, testClock));
const base = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };
const on = (spec: object) => ({ spec: { ...base, ...spec } });
const hostPath = { path: '/x' };
const someNodes = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] } };

describe('persistent volumes', () => {
  it('are pending, retained file systems', () => {
    const { object } = tester.create(on({ hostPath, rbd: undefined }));
    assert.deepEqual(object.spec, {
      ...base,
      hostPath: { path: '/x', type: '' },
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
    });
    assert.deepEqual(object.status, { phase: 'Pending', lastPhaseTransitionTime: testTime });
    const early = '2029-12-31T00:00:00Z';
    const pending = { ...object, status: { phase: 'Pending', lastPhaseTransitionTime: early } };
    const timeAfter = (status: object) => {
      const { object: next } = tester.patch(pending, { status }, 'status');
      return (next.status as { lastPhaseTransitionTime?: string }).lastPhaseTransitionTime;
    };
    assert.equal(timeAfter({ phase: 'Available' }), testTime);
    assert.equal(timeAfter({ message: 'm', lastPhaseTransitionTime: null }), early);
    assert.equal(
      timeAfter({ phase: 'Bound', lastPhaseTransitionTime: '2029-12-31T01:00:00Z' }),
      '2029-12-31T01:00:00Z',
    );
    const { rbd } = tester.create(on({ rbd: { monitors: ['a'], image: 'b' } })).object.spec as { rbd: object };
    assert.deepEqual(rbd, { monitors: ['a'], image: 'b', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' });
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'nothing',
      { spec: {} },
      [
        'Required | spec.accessModes | Required value',
        'Required | spec.capacity | Required value',
        'NotSupported | spec.capacity | Unsupported value: null: supported values: "storage"',
        'Required | spec | Required value: must specify a volume type',
      ],
    ],
    [
      'unknown words',
      on({ accessModes: ['Odd'], persistentVolumeReclaimPolicy: 'Shred', volumeMode: 'Odd', hostPath }),
      [
        'NotSupported | spec.accessModes | Unsupported value: "Odd": supported values: "ReadOnlyMany"',
        'NotSupported | spec.persistentVolumeReclaimPolicy | Unsupported value: "Shred": supported values: "Delete", "Re',
        'NotSupported | spec.volumeMode | Unsupported value: "Odd": supported values: "Block", "Filesystem"',
      ],
    ],
    [
      'one pod together with other modes',
      on({ accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'], hostPath }),
      ['Forbidden | spec.accessModes | Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      'no size',
      on({ capacity: { storage: '0' }, hostPath }),
      ['Invalid | spec.capacity[storage] | Invalid value: "0": must be greater than zero'],
    ],
    [
      'two places',
      on({ hostPath: { path: '../x' }, nfs: { server: '', path: '' } }),
      [
        'Invalid | spec.hostPath.path | Invalid value: "../x": must not contain \'..\'',
        'Forbidden | spec.nfs | Forbidden: may not specify more than 1 volume type',
      ],
    ],
    [
      'emptying the root of a node',
      on({ hostPath: { path: '/x/..' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      [
        'Invalid | spec.hostPath.path',
        "Forbidden | spec.persistentVolumeReclaimPolicy | Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      'a local path without nodes',
      on({ local: { path: '' } }),
      [
        'Required | spec.local.path | Required value',
        'Required | spec.nodeAffinity | Required value: Local volume requires node affinity',
      ],
    ],
    [
      'an affinity to nothing',
      on({ hostPath, nodeAffinity: {} }),
      ['Required | spec.nodeAffinity.required | Required value: must specify required node constraints'],
    ],
    [
      'an incomplete driver',
      on({ csi: { driver: 'a_b', volumeHandle: '', nodeExpandSecretRef: { name: 'x' } } }),
      [
        'Invalid | spec.csi.driver | Invalid value: "a_b"',
        'Required | spec.csi.volumeHandle | Required value',
        'Required | spec.csi.nodeExpandSecretRef.namespace | Required value',
      ],
    ],
    [
      'a second source',
      on({ hostPath, cephfs: { monitors: [] }, awsElasticBlockStore: { volumeID: '' } }),
      [
        'Forbidden | spec.awsElasticBlockStore | Forbidden: may not specify more than 1 volume type',
        'Forbidden | spec.cephFS | Forbidden: may not specify more than 1 volume type',
      ],
    ],
    [
      'a quobyte volume without a port',
      on({ quobyte: { registry: 'a:1,b', volume: 'v' } }),
      [
        'Invalid | spec.quobyte.registry | Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas',
      ],
    ],
    [
      'malformed references to secrets',
      on({
        csi: {
          driver: 'a.b',
          volumeHandle: 'x',
          controllerPublishSecretRef: { name: 'A b', namespace: 'n' },
          nodePublishSecretRef: { name: 'a', namespace: 'a.b' },
        },
      }),
      [
        'Invalid | spec.csi.controllerPublishSecretRef.name | Invalid value: "A b"',
        'Invalid | spec.csi.nodePublishSecretRef.namespace | Invalid value: "a.b"',
      ],
    ],
    [
      'a disk without id',
      on({ gcePersistentDisk: { pdName: '', partition: 300 } }),
      ['Required | spec.persistentDisk.pdName | Required value', 'Invalid | spec.persistentDisk.partition'],
    ],
    [
      'reserved options',
      on({ flexVolume: { driver: 'a', options: { [`x.${testNames.labelPrefix}/y`]: '' } } }),
      [`Invalid | spec.flexVolume.options[x.${testNames.labelPrefix}/y] | Invalid value`],
    ],
    [
      'secrets of no namespace',
      on({ azureFile: { secretName: 'a', shareName: 'b', secretNamespace: '' } }),
      ['Required | spec.azureFile.secretNamespace | Required value'],
    ],
    [
      'a bad class',
      on({ hostPath, storageClassName: 'A_' }),
      ['Invalid | spec.storageClassName | Invalid value: "A_": a lowercase'],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('keep their place', () => {
    const { object } = tester.create(on({ hostPath, storageClassName: 'a' }));
    assertCauses(tester.patch(object, { spec: { storageClassName: 'b', capacity: { storage: '2Gi' } } }).causes, []);
    assertCauses(tester.patch(object, { spec: { hostPath: { path: '/y' } } }).causes, [
      'Forbidden | spec.persistentvolumesource | Forbidden: spec.persistentvolumesource is immutable after creation',
    ]);
    assertCauses(tester.patch(object, { spec: { volumeMode: 'Block' } }).causes, [
      'Invalid | volumeMode | Invalid value: "Block": field is immutable',
    ]);
    const { object: bound, causes } = tester.patch(object, { spec: { nodeAffinity: someNodes } });
    assertCauses(causes, []);
    assertCauses(tester.patch(bound, { spec: { nodeAffinity: null } }).causes, [
      'Invalid | nodeAffinity | Invalid value: null: field is immutable, except for updating from beta label to GA',
    ]);
    const nodesOf = (key: string) => ({
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['z'] }] }] },
    });
    const [beta, general] = ['failure-domain.beta', 'topology'].map((word) => `${word}.${testNames.labelPrefix}/zone`);
    const { object: old } = tester.create(on({ hostPath, nodeAffinity: nodesOf(beta ?? '') }));
    assertCauses(tester.patch(old, { spec: { nodeAffinity: nodesOf(general ?? '') } }).causes, []);
    assert.equal(tester.patch(old, { spec: { nodeAffinity: nodesOf('other') } }).causes.length, 1);
  });

  it('may get the secret for growing later, once', () => {
    const grow = (name: string) => ({ spec: { csi: { controllerExpandSecretRef: { name, namespace: 'n' } } } });
    const { object } = tester.create(on({ csi: { driver: 'a.b', volumeHandle: 'x' } }));
    const later = tester.patch(object, grow('a'));
    assertCauses(later.causes, []);
    assertCauses(tester.patch(later.object, grow('b')).causes, ['Forbidden | spec.persistentvolumesource']);
  });

  it('change status through its own path, and show it', () => {
    const { object } = tester.create(
      on({ hostPath, storageClassName: 'slow', claimRef: { namespace: 'n', name: 'c' } }),
    );
    const { object: bound } = tester.patch(
      object,
      { spec: { volumeMode: 'Block' }, status: { phase: 'Bound' } },
      'status',
    );
    const cells = ['1Gi', 'RWO', 'Retain', 'Bound', 'n/c', 'slow', '<unset>', '', '0s', 'Filesystem'];
    assert.deepEqual(tester.cells(bound), ['a', ...cells]);
    bound.metadata.deletionTimestamp = '2030-01-01T00:00:00Z';
    assert.equal(tester.cells(bound)[4], 'Terminating');
  });
});
