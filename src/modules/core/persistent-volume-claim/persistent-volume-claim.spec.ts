import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { openFieldGates } from '../../../base/machinery/schema/index.js';
import { persistentVolumeClaimResource } from './persistent-volume-claim.resource.js';

const tester = new DefinitionTester(persistentVolumeClaimResource(testNames));
const base = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const claim = (spec: object = {}) => ({ spec: { ...base, ...spec } });
const size = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
const frozen =
  'Forbidden | spec | Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

describe('persistent volume claims', () => {
  it('are pending claims of file systems', () => {
    const { object } = tester.create(claim());
    assert.deepEqual(object.spec, { ...base, volumeMode: 'Filesystem' });
    assert.deepEqual(object.status, { phase: 'Pending' });
  });

  it('know their source under both names', () => {
    const snapshot = { apiGroup: `snapshot.storage.${testNames.suffix}`, kind: 'VolumeSnapshot', name: 'a' };
    const other = { apiGroup: 'x.y', kind: 'Odd', name: 'a' };
    const sources = (spec: object) => {
      const { dataSource, dataSourceRef } = tester.create(claim(spec)).object.spec as Record<string, unknown>;
      return { dataSource, dataSourceRef };
    };
    assert.deepEqual(sources({ dataSource: snapshot }), { dataSource: snapshot, dataSourceRef: snapshot });
    assert.deepEqual(sources({ dataSourceRef: other }), { dataSource: other, dataSourceRef: other });
    assert.deepEqual(sources({ dataSource: other }), { dataSource: undefined, dataSourceRef: undefined });
  });

  it('lose a source in another namespace unless the gate is open, or it was there before', () => {
    const foreign = { apiGroup: 'x.y', kind: 'Odd', name: 'a', namespace: 'b' };
    const source = { dataSourceRef: foreign };
    const closed = tester.create(claim(source)).object.spec as Record<string, unknown>;
    assert.deepEqual([closed.dataSource, closed.dataSourceRef], [undefined, undefined]);
    openFieldGates(['CrossNamespaceVolumeDataSource']);
    const { object } = tester.create(claim(source));
    const { causes } = tester.create(claim({ dataSourceRef: { ...foreign, namespace: 'B' } }));
    openFieldGates([]);
    assert.deepEqual((object.spec as Record<string, unknown>).dataSourceRef, foreign);
    assert.match(causes.join(), /^FieldValueInvalid \| spec\.dataSourceRef\.namespace \| /);
    const { object: updated } = tester.patch(object, { metadata: { labels: { a: 'b' } } });
    assert.deepEqual((updated.spec as Record<string, unknown>).dataSourceRef, foreign);
  });

  it('may come back from clients that know only the older name', () => {
    const dataSource = { kind: 'PersistentVolumeClaim', name: 'a' };
    const { object } = tester.create(claim({ dataSource }));
    const { object: updated, causes } = tester.patch(object, { spec: { dataSourceRef: null } });
    assert.deepEqual(causes, []);
    assert.deepEqual(updated.spec, object.spec);
  });

  it('and their volumes have whole thousandths', () => {
    const { object } = tester.create(
      claim({ resources: { requests: { storage: '0.5m' }, limits: { storage: '1.2m' } } }),
    );
    assert.deepEqual((object.spec as { resources: unknown }).resources, {
      limits: { storage: '2m' },
      requests: { storage: '1m' },
    });
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'nothing',
      { spec: {} },
      [
        'Required | spec.accessModes | Required value: at least 1 access mode is required',
        'Required | spec.resources[storage] | Required value',
      ],
    ],
    [
      'a bad selector',
      claim({ selector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } }),
      [
        "Forbidden | spec.selector.matchExpressions[0].values | Forbidden: may not be specified when `operator` is 'Exist",
      ],
    ],
    [
      'unknown words',
      claim({ accessModes: ['Odd'], volumeMode: 'Odd', storageClassName: 'A_' }),
      [
        'NotSupported | spec.accessModes | Unsupported value: "Odd"',
        'Invalid | spec.storageClassName | Invalid value: "A_"',
        'NotSupported | spec.volumeMode | Unsupported value: "Odd": supported values: "Block", "Filesystem"',
      ],
    ],
    [
      'no size',
      { spec: { ...base, ...size('0').spec } },
      ['Invalid | spec.resources[storage] | Invalid value: "0": must be greater than zero'],
    ],
    [
      'two sources',
      claim({
        dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
        dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
      }),
      ['Invalid | spec | Invalid value: "spec.dataSource": must match dataSourceRef'],
    ],
    [
      'a source of no kind',
      claim({ dataSourceRef: { kind: '', name: '' } }),
      [
        'Required | spec.dataSource.name',
        'Required | spec.dataSource.kind',
        'Invalid | spec.dataSource | Invalid value: "": must be \'PersistentVolumeClaim\' when referencing the default',
        'Required | spec.dataSourceRef.name',
        'Required | spec.dataSourceRef.kind',
        'Invalid | spec.dataSourceRef',
      ],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('get their volume and class once', () => {
    const { object } = tester.create(claim());
    const { object: bound, causes } = tester.patch(object, { spec: { volumeName: 'v', storageClassName: 'c' } });
    assertCauses(causes, []);
    assertCauses(tester.patch(bound, { spec: { volumeName: 'w' } }).causes, [frozen]);
    assertCauses(tester.patch(bound, { spec: { storageClassName: 'd' } }).causes, [frozen]);
    assertCauses(tester.patch(bound, { spec: { volumeMode: 'Block' } }).causes, [
      frozen,
      'Invalid | volumeMode | Invalid value: "Block": field is immutable',
    ]);
  });

  it('keep the annotation that named the class, and ask for some storage', () => {
    const key = `volume.beta.${testNames.labelPrefix}/storage-class`;
    const { object } = tester.create(claim());
    assertCauses(tester.patch(object, { metadata: { annotations: { [key]: 'x' } } }).causes, [
      `Invalid | metadata.annotations.${key} | Invalid value: "x": field is immutable`,
    ]);
    const lessened = tester.patch(object, { spec: { resources: { requests: null } } }).causes;
    assert.match(lessened.at(-1) ?? '', /requests\.storage \| Forbidden: field can not be less than status\.capacity/);
  });

  it('grow when bound, and shrink again only to more than the present size', () => {
    const { object } = tester.create(claim());
    assertCauses(tester.patch(object, size('2Gi')).causes, [frozen]);
    assertCauses(tester.patch(object, size('1Mi')).causes, [frozen]);
    const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
    const { object: bound } = tester.patch(object, { status }, 'status');
    const { object: grown, causes } = tester.patch(bound, size('3Gi'));
    assertCauses(causes, []);
    assertCauses(tester.patch(grown, size('2Gi')).causes, []);
    assertCauses(tester.patch(grown, size('1Gi')).causes, [
      'Forbidden | spec.resources.requests.storage | Forbidden: field can not be less than status.capacity',
    ]);
  });

  it('report the growth of storage only, and of what others define', () => {
    const { object } = tester.create(claim({ volumeName: 'v' }));
    const good = {
      allocatedResources: { storage: '2Gi', 'example.com/x': '1' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    };
    assertCauses(tester.patch(object, { status: good }, 'status').causes, []);
    const bad = {
      allocatedResources: { cpu: '1', storage: '-1', 'a b': '1' },
      allocatedResourceStatuses: { memory: 'Odd' },
    };
    const states =
      '"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"';
    const { causes } = tester.patch(object, { status: bad }, 'status');
    assertCauses(causes, [
      'NotSupported | status.allocatedResourceStatuses | Unsupported value: "memory": supported values: "storage"',
      `NotSupported | status.allocatedResourceStatuses | Unsupported value: "memory": supported values: ${states}`,
      `Invalid | status.allocatedResources | Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      'NotSupported | status.allocatedResources | Unsupported value: "cpu": supported values: "storage"',
      'Invalid | status.allocatedResources[storage] | Invalid value: -1: must be a valid resource quantity',
    ]);
  });

  it('show the volume they are bound to', () => {
    const { object } = tester.create(claim({ volumeName: 'v', storageClassName: 'c' }));
    const status = {
      phase: 'Bound',
      capacity: { storage: '1Gi', cpu: '-1' },
      accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
    };
    const { object: bound, causes } = tester.patch(object, { status }, 'status');
    assertCauses(causes, ['Invalid | status.capacity[cpu] | Invalid value: -1: must be a valid resource quantity']);
    assert.deepEqual(tester.cells(bound, 2), ['a', 'Bound', 'v', '1Gi', 'RWO,RWX', 'c', '<unset>', '2s', 'Filesystem']);
  });
});
