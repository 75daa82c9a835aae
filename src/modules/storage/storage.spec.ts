import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../test/support/definition-tester.js';
import { csiDriverResource } from './csi-driver/csi-driver.resource.js';
import { csiNodeResource } from './csi-node/csi-node.resource.js';
import { csiStorageCapacityResource } from './csi-storage-capacity/csi-storage-capacity.resource.js';
import { storageClassResource } from './storage-class/storage-class.resource.js';
import { volumeAttachmentResource } from './volume-attachment/volume-attachment.resource.js';
import { volumeAttributesClassResource } from './volume-attributes-class/volume-attributes-class.resource.js';

/** Reason and field of each cause. */
function places(causes: readonly string[]): string[] {
  return causes.map((cause) => cause.split(' | ').slice(0, 2).join(' '));
}

describe('StorageClass', () => {
  const tester = new DefinitionTester(storageClassResource(testNames));
  const expressions = (...list: object[]) => ({ matchLabelExpressions: list });

  it('deletes and binds at once by default', () => {
    const { object } = tester.create({ provisioner: 'a/b' });
    assert.equal(object.reclaimPolicy, 'Delete');
    assert.equal(object.volumeBindingMode, 'Immediate');
    assert.deepEqual(tester.cells(object), ['a', 'a/b', 'Delete', 'Immediate', false, '0s']);
  });

  it('marks the default class', () => {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const { object } = tester.create({ metadata: { annotations }, provisioner: 'a', allowVolumeExpansion: true });
    assert.deepEqual(tester.cells(object), ['a (default)', 'a', 'Delete', 'Immediate', true, '0s']);
  });

  const cases: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    [
      'enums',
      { provisioner: '', reclaimPolicy: 'Recycle', volumeBindingMode: 'Never' },
      [
        'FieldValueNotSupported | reclaimPolicy | Unsupported value: "Recycle": supported values: "Delete", "Retain"',
        'FieldValueNotSupported | volumeBindingMode | Unsupported value: "Never": supported values: "Immediate", "WaitForFirstConsumer"',
        'FieldValueRequired | provisioner | Required value',
      ],
    ],
    [
      'parameter names',
      { provisioner: 'a', parameters: { '': 'x' } },
      ['FieldValueInvalid | parameters | Invalid value: "": field can not be empty.'],
    ],
    [
      'parameter count',
      { provisioner: 'a', parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, ''])) },
      ['FieldValueTooLong | parameters | Too long: may not be more than 512 bytes'],
    ],
    [
      'parameter size',
      { provisioner: 'a', parameters: { k: 'x'.repeat(256 * 1024) } },
      ['FieldValueTooLong | parameters | Too long: may not be more than 262144 bytes'],
    ],
    [
      'topologies',
      {
        provisioner: 'a',
        allowedTopologies: [
          expressions({ key: 'c', values: [] }, { key: 'd', values: ['x', 'x'] }, { key: 'd', values: ['y'] }),
          expressions({ key: 'e', values: ['x'] }),
          expressions({ key: 'e', values: ['x'] }),
        ],
      },
      [
        'FieldValueRequired | allowedTopologies[0].matchLabelExpressions[0].values | Required value',
        'FieldValueDuplicate | allowedTopologies[0].matchLabelExpressions[1].values[1] | Duplicate value: "x"',
        'FieldValueDuplicate | allowedTopologies[0].matchLabelExpressions[2].key | Duplicate value: "d"',
        'FieldValueDuplicate | allowedTopologies[2].matchLabelExpressions | Duplicate value: ""',
      ],
    ],
  ];
  for (const [name, body, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(tester.create(body).causes, expected));
  }

  it('keeps the way volumes are made', () => {
    const { object } = tester.create({ provisioner: 'a/b' });
    const patch = {
      provisioner: 'x',
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    };
    assert.deepEqual(tester.patch(object, patch).causes, [
      'FieldValueInvalid | provisioner | Invalid value: null: field is immutable',
      'FieldValueInvalid | parameters | Invalid value: null: field is immutable',
      'FieldValueInvalid | reclaimPolicy | Invalid value: null: field is immutable',
      'FieldValueInvalid | volumeBindingMode | Invalid value: null: field is immutable',
    ]);
    assert.deepEqual(tester.patch(object, { reclaimPolicy: 'Odd', allowedTopologies: [{}] }).causes, [
      'FieldValueNotSupported | reclaimPolicy | Unsupported value: "Odd": supported values: "Delete", "Retain"',
      'FieldValueDuplicate | allowedTopologies[0].matchLabelExpressions | Duplicate value: ""',
      'FieldValueInvalid | reclaimPolicy | Invalid value: null: field is immutable',
    ]);
    const allowed = { allowVolumeExpansion: true, mountOptions: ['ro'] };
    assert.deepEqual(tester.patch(object, allowed).causes, []);
  });
});

describe('VolumeAttachment', () => {
  const tester = new DefinitionTester(volumeAttachmentResource(testNames));
  const spec = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'pv' } };
  const inline = (inlineVolumeSpec: object) => ({ spec: { ...spec, source: { inlineVolumeSpec } } });

  it('starts detached', () => {
    const { object, causes } = tester.create({ spec, status: { attached: true } });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.status, { attached: false });
    assert.deepEqual(tester.cells(object), ['a', 'a', 'pv', 'n', false, '0s']);
  });

  it('requires one source', () => {
    const none = tester.create({ spec: { ...spec, source: {} } }).causes;
    assert.deepEqual(places(none), ['FieldValueRequired spec.source']);
    const both = tester.create({
      spec: { ...spec, source: { persistentVolumeName: 'pv', inlineVolumeSpec: {} } },
    }).causes;
    assert.deepEqual(places(both), ['FieldValueForbidden spec.source']);
    const empty = tester.create({ spec: { ...spec, source: { persistentVolumeName: '' } } }).causes;
    assert.deepEqual(places(empty), [
      'FieldValueRequired spec.source.persistentVolumeName',
      'FieldValueInvalid spec.source.persistentVolumeName',
    ]);
  });

  it('requires a plain CSI volume inline', () => {
    const csi = { driver: 'd', volumeHandle: 'h' };
    assert.deepEqual(tester.create(inline({ accessModes: ['ReadWriteOnce'], csi })).causes, []);
    const at = 'spec.source.inlineVolumeSpec';
    assert.deepEqual(places(tester.create(inline({})).causes), [
      `FieldValueRequired ${at}`,
      `FieldValueRequired ${at}.csi`,
      `FieldValueRequired ${at}.accessModes`,
    ]);
    const wrong = {
      accessModes: ['x'],
      csi: { driver: 'd', volumeHandle: '' },
      storageClassName: 's',
      volumeMode: 'Block',
    };
    assert.deepEqual(places(tester.create(inline(wrong)).causes), [
      `FieldValueForbidden ${at}.storageClassName`,
      `FieldValueRequired ${at}.csi.volumeHandle`,
      `FieldValueNotSupported ${at}.accessModes`,
      `FieldValueForbidden ${at}.volumeMode`,
    ]);
  });

  it('keeps its spec and bounds its status', () => {
    const { object } = tester.create({ spec });
    assert.deepEqual(places(tester.patch(object, { spec: { nodeName: 'm' } }).causes), ['FieldValueInvalid spec']);
    const status = {
      attached: true,
      attachError: { message: 'm'.repeat(1025) },
      attachmentMetadata: { a: 'x'.repeat(256 * 1024) },
    };
    assert.deepEqual(places(tester.patch(object, { status }, 'status').causes), [
      'FieldValueTooLong status.attachmentMetadata',
      'FieldValueTooLong status.attachError.message',
    ]);
    const written = tester.patch(object, { spec: { nodeName: 'm' }, status: { attached: true } }, 'status');
    assert.deepEqual(written.causes, []);
    assert.deepEqual(written.object.spec, spec);
  });
});

describe('CSIDriver', () => {
  const tester = new DefinitionTester(csiDriverResource(testNames));

  it('fills defaults', () => {
    const { object, causes } = tester.create({ spec: {} });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.spec, {
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
      preventPodSchedulingIfMissing: false,
    });
    assert.deepEqual(tester.cells(object), ['a', true, false, false, '<unset>', false, 'Persistent', '0s']);
  });

  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['modes', { volumeLifecycleModes: ['x'] }, ['FieldValueNotSupported spec.volumeLifecycleModes']],
    ['policy', { fsGroupPolicy: 'x' }, ['FieldValueNotSupported spec.fsGroupPolicy']],
    [
      'tokens',
      {
        tokenRequests: [
          { audience: 'a', expirationSeconds: 599 },
          { audience: 'a', expirationSeconds: 2 ** 32 + 1 },
        ],
      },
      [
        'FieldValueInvalid spec.tokenRequests[0].expirationSeconds',
        'FieldValueDuplicate spec.tokenRequests[1].audience',
      ],
    ],
    [
      'period and secrets',
      { nodeAllocatableUpdatePeriodSeconds: 9, serviceAccountTokenInSecrets: true },
      [
        'FieldValueInvalid spec.nodeAllocatableUpdatePeriodSeconds',
        'FieldValueInvalid spec.serviceAccountTokenInSecrets',
      ],
    ],
  ];
  for (const [name, spec, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(places(tester.create({ spec }).causes), expected));
  }

  it('keeps the fields that volumes rely on', () => {
    const { object } = tester.create({ spec: {} });
    const patch = { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } };
    assert.deepEqual(tester.patch(object, patch).causes, [
      'FieldValueInvalid | spec.attachedRequired | Invalid value: false: field is immutable',
      'FieldValueInvalid | spec.volumeLifecycleModes | Invalid value: ["Ephemeral"]: field is immutable',
    ]);
    const changed = tester.patch(object, { spec: { podInfoOnMount: true } });
    assert.deepEqual(changed.causes, []);
    assert.deepEqual([object.metadata.generation, changed.object.metadata.generation], [undefined, 1]);
  });
});

describe('CSINode', () => {
  const tester = new DefinitionTester(csiNodeResource(testNames));
  const driver = { name: 'd', nodeID: 'n', topologyKeys: ['a'] };

  it('checks drivers', () => {
    const { causes } = tester.create({
      spec: {
        drivers: [
          driver,
          { ...driver, allocatable: { count: -1 }, topologyKeys: ['', 'b', 'b'] },
          { name: 'x'.repeat(64), nodeID: '' },
          { name: 'e', nodeID: 'y'.repeat(257) },
        ],
      },
    });
    assert.deepEqual(places(causes), [
      'FieldValueInvalid spec.drivers[1].allocatable.count',
      'FieldValueDuplicate spec.drivers[1].name',
      'FieldValueRequired spec.drivers[1]',
      'FieldValueInvalid spec.drivers[1]',
      'FieldValueInvalid spec.drivers[1]',
      'FieldValueDuplicate spec.drivers[1]',
      'FieldValueTooLong spec.drivers[2].name',
      'FieldValueRequired spec.drivers[2].nodeID',
      'FieldValueInvalid spec.drivers[3].nodeID',
    ]);
  });

  it('lets drivers come and go, but not change', () => {
    const { object } = tester.create({ spec: { drivers: [driver] } });
    assert.deepEqual(tester.cells(object), ['a', 1, '0s']);
    assert.deepEqual(tester.patch(object, { spec: { drivers: [{ name: 'e', nodeID: 'm' }] } }).causes, []);
    const changed = tester.patch(object, { spec: { drivers: [{ ...driver, nodeID: 'm' }] } }).causes;
    assert.deepEqual(places(changed), ['FieldValueInvalid spec.drivers']);
  });
});

describe('CSIStorageCapacity', () => {
  const tester = new DefinitionTester(csiStorageCapacityResource(testNames));

  it('checks class and sizes', () => {
    const good = { storageClassName: 's', capacity: '1Gi', nodeTopology: { matchLabels: { a: 'b' } } };
    const { object, causes } = tester.create(good);
    assert.deepEqual(causes, []);
    assert.deepEqual(tester.cells(object), ['a', '2030-01-01T00:00:00Z']);
    const bad = tester.create({ storageClassName: 'S', capacity: '-1' }).causes;
    assert.deepEqual(places(bad), ['FieldValueInvalid storageClassName', 'FieldValueInvalid capacity']);
    assert.deepEqual(places(tester.patch(object, { storageClassName: 't', capacity: '2Gi' }).causes), [
      'FieldValueInvalid storageClassName',
    ]);
  });
});

describe('VolumeAttributesClass', () => {
  const tester = new DefinitionTester(volumeAttributesClassResource(testNames));

  it('needs a driver and parameters, and keeps them', () => {
    assert.deepEqual(places(tester.create({}).causes), [
      'FieldValueRequired driverName',
      'FieldValueRequired parameters',
    ]);
    const { object, causes } = tester.create({ driverName: 'd', parameters: { a: 'b' } });
    assert.deepEqual(causes, []);
    assert.deepEqual(places(tester.patch(object, { driverName: 'e', parameters: { a: 'c' } }).causes), [
      'FieldValueForbidden driverName',
      'FieldValueForbidden parameters',
    ]);
  });
});
