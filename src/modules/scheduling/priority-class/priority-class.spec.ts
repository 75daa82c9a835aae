import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { priorityClassResource } from './priority-class.resource.js';

describe('PriorityClass', () => {
  const tester = new DefinitionTester(priorityClassResource(testNames));
  const reserved = "Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
  const system = (name: string, more: object) => ({ metadata: { name }, ...more });

  it('preempts unless told otherwise', () => {
    const { object } = tester.create({ value: 1000 });
    assert.equal(object.preemptionPolicy, 'PreemptLowerPriority');
    assert.equal(object.metadata.generation, 1);
    assert.deepEqual(tester.cells(object), ['a', 1000, false, '0s', 'PreemptLowerPriority']);
  });

  const cases: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
    [{ value: 1_000_000_000, preemptionPolicy: 'Never' }, []],
    [{ value: -5 }, []],
    [system('system-node-critical', { value: 2_000_001_000 }), []],
    [
      { value: 1_000_000_001 },
      ['FieldValueForbidden | value | Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      { value: 1, preemptionPolicy: 'x' },
      [
        'FieldValueNotSupported | preemptionPolicy | Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
      ],
    ],
    [
      system('system-bad', { value: 1 }),
      [`FieldValueForbidden | metadata.name | ${reserved}system-bad is not a known system priority class`],
    ],
    [
      system('system-cluster-critical', { value: 5 }),
      [
        `FieldValueForbidden | metadata.name | ${reserved}value of system-cluster-critical PriorityClass must be 2000000000`,
      ],
    ],
    [
      system('system-node-critical', { value: 2_000_001_000, globalDefault: true }),
      [
        `FieldValueForbidden | metadata.name | ${reserved}globalDefault of system-node-critical PriorityClass must be false`,
      ],
    ],
  ];
  for (const [body, expected] of cases) {
    it(`judges ${JSON.stringify(body)}`, () => assert.deepEqual(tester.create(body).causes, expected));
  }

  it('keeps the fields that pods rely on', () => {
    const { object } = tester.create({ value: 5 });
    assert.deepEqual(tester.patch(object, { value: 6, preemptionPolicy: 'Never' }).causes, [
      'FieldValueForbidden | value | Forbidden: may not be changed in an update.',
      'FieldValueInvalid | preemptionPolicy | Invalid value: "Never": field is immutable',
    ]);
    const changed = tester.patch(object, { globalDefault: true, description: 'x' });
    assert.deepEqual(changed.causes, []);
    assert.equal(changed.object.metadata.generation, 1);
  });
});
