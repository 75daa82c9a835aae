import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import type { PodDisruptionBudget } from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { budgetFromV1beta1, budgetToV1beta1 } from './pod-disruption-budget.conversion.js';
import { podDisruptionBudgetResource } from './pod-disruption-budget.resource.js';

describe('PodDisruptionBudget', () => {
  const definition = podDisruptionBudgetResource(testNames);
  const tester = new DefinitionTester(definition);
  const beta = new DefinitionTester(definition, 'v1beta1');
  const zeroStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const percent =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

  it('starts with a zero status', () => {
    const { object, causes } = tester.create({ spec: { maxUnavailable: '10%' }, status: { disruptionsAllowed: 7 } });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.status, zeroStatus);
    assert.deepEqual(tester.cells(object), ['a', 'N/A', '10%', 0, '0s']);
    assert.deepEqual(tester.cells(tester.create({ spec: { minAvailable: 0 } }).object), ['a', '0', 'N/A', 0, '0s']);
  });

  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, []],
    [{ minAvailable: '100%', selector: {} }, []],
    [
      { minAvailable: -1 },
      ['FieldValueInvalid | spec.minAvailable | Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { minAvailable: '110%' },
      ['FieldValueInvalid | spec.minAvailable | Invalid value: "110%": must not be greater than 100%'],
    ],
    [{ maxUnavailable: 'a' }, [`FieldValueInvalid | spec.maxUnavailable | Invalid value: "a": ${percent}`]],
    [{ maxUnavailable: '-1%' }, [`FieldValueInvalid | spec.maxUnavailable | Invalid value: "-1%": ${percent}`]],
    [
      { minAvailable: 1, maxUnavailable: 1 },
      [
        'FieldValueInvalid | spec | Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      { selector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] }, unhealthyPodEvictionPolicy: 'x' },
      [
        'FieldValueInvalid | spec.selector.matchExpressions[0].operator | Invalid value: "Odd": not a valid selector operator',
        'FieldValueNotSupported | spec.unhealthyPodEvictionPolicy | Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"',
      ],
    ],
  ];
  for (const [spec, expected] of cases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(tester.create({ spec }).causes, expected);
      assert.deepEqual(tester.patch(tester.create({}).object, { spec }).causes, expected);
    });
  }

  it('lets the spec change, and only its own path the status', () => {
    const { object } = tester.create({ spec: { minAvailable: 1 } });
    const changed = tester.patch(object, { spec: { minAvailable: 2 }, status: { currentHealthy: 5 } });
    assert.deepEqual(changed.causes, []);
    assert.equal(changed.object.metadata.generation, 2);
    assert.deepEqual(changed.object.status, zeroStatus);
    const written = tester.patch(object, { spec: { minAvailable: 2 }, status: { currentHealthy: 5 } }, 'status');
    assert.deepEqual(written.object.spec, { minAvailable: 1 });
    assert.deepEqual(written.object.status, { ...zeroStatus, currentHealthy: 5 });
    assert.equal(written.object.metadata.generation, 1);
  });

  it('checks a status in v1 only', () => {
    const { object } = tester.create({});
    const patch = { status: { expectedPods: -1, conditions: [{ type: '' }] } };
    assert.deepEqual(
      tester.patch(object, patch, 'status').causes.map((cause) => cause.split(' | ')[1]),
      [
        'status.conditions[0].type',
        'status.conditions[0].status',
        'status.conditions[0].lastTransitionTime',
        'status.conditions[0].reason',
        'status.expectedPods',
      ],
    );
    assert.deepEqual(beta.patch(object, patch, 'status').causes, []);
  });

  it('keeps the meaning of empty selectors between versions', () => {
    const nothing = beta.create({ spec: { selector: {} } }).object;
    const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
    assert.deepEqual(nothing.spec, { selector: { matchExpressions: [{ key, operator: 'Exists' }] } });
    const label = 'l';
    for (const selector of [
      undefined,
      {},
      { matchLabels: { a: 'b' } },
      { matchExpressions: [{ key: label, operator: 'DoesNotExist' }] },
    ]) {
      const spec = selector === undefined ? {} : { selector };
      const budget = { metadata: {}, spec, status: zeroStatus } as unknown as PodDisruptionBudget;
      const before = structuredClone(budget);
      budgetFromV1beta1(budget, label);
      budgetToV1beta1(budget, label);
      assert.deepEqual(budget, before);
    }
  });
});
