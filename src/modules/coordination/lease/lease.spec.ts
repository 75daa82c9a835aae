import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { openFieldGates } from '../../../base/machinery/schema/index.js';
import { leaseResource } from './lease.resource.js';

describe('Lease', () => {
  const tester = new DefinitionTester(leaseResource(testNames));
  const gates = ['CoordinatedLeaderElection'];
  before(() => openFieldGates(gates));
  after(() => openFieldGates([]));

  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, []],
    [{ holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
    [
      { leaseDurationSeconds: 0, leaseTransitions: -1 },
      [
        'FieldValueInvalid | spec.leaseDurationSeconds | Invalid value: 0: must be greater than 0',
        'FieldValueInvalid | spec.leaseTransitions | Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      { strategy: 'Youngest' },
      [
        'FieldValueNotSupported | spec.strategy | Unsupported value: "Youngest": supported values: "OldestEmulationVersion"',
      ],
    ],
    [
      { preferredHolder: 'you' },
      ['FieldValueForbidden | spec.preferredHolder | Forbidden: may only be specified if `strategy` is defined'],
    ],
  ];
  for (const [spec, expected] of cases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(tester.create({ spec }).causes, expected);
      const { object } = tester.create({});
      assert.deepEqual(tester.patch(object, { spec }).causes, expected);
    });
  }

  it('has no strategy without the gate', () => {
    openFieldGates([]);
    const { object } = tester.create({ spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'you' } });
    openFieldGates(gates);
    assert.deepEqual(object.spec, {});
  });

  it('shows its holder', () => {
    const { object } = tester.create({ spec: { holderIdentity: 'me' } });
    assert.deepEqual(tester.cells(object, 3), ['a', 'me', '3s']);
    assert.equal(object.metadata.generation, undefined);
  });
});
