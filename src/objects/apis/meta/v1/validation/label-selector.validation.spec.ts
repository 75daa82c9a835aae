import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { qualifiedRule, valueRule } from '../../../../../../test/support/pod-rules.js';
import { FieldPath } from '../../../../../base/machinery/field-error.js';
import type { LabelSelector } from '../selector.types.js';
import { isEmptySelector, matcherOf, validateLabelSelector } from './label-selector.validation.js';

const cases: readonly (readonly [selector: LabelSelector | null, errors: readonly string[]])[] = [
  [null, []],
  [{}, []],
  [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['d'] }] }, []],
  [
    { matchLabels: { 'a b': 'c d' } },
    [`s.matchLabels: Invalid value: "a b": ${qualifiedRule}`, `s.matchLabels: Invalid value: "c d": ${valueRule}`],
  ],
  [
    {
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: ['b'] },
        { key: 'a', operator: 'Odd' },
        { key: '', operator: 'NotIn', values: ['c d'] },
      ],
    },
    [
      "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "s.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      's.matchExpressions[2].operator: Invalid value: "Odd": not a valid selector operator',
      's.matchExpressions[3].key: Invalid value: "": name part must be non-empty',
      `s.matchExpressions[3].key: Invalid value: "": ${qualifiedRule}`,
      `s.matchExpressions[3].values[0]: Invalid value: "c d": ${valueRule}`,
    ],
  ],
];

describe('validateLabelSelector', () => {
  for (const [selector, expected] of cases) {
    it(`judges ${JSON.stringify(selector)}`, () => {
      const errors = validateLabelSelector(selector, FieldPath.of('s'));
      assert.deepEqual(
        errors.map((e) => `${e.field}: ${e.message}`),
        expected,
      );
    });
  }
});

describe('matcherOf', () => {
  it('finds out whether labels are selected', () => {
    const matches = matcherOf({ matchLabels: { a: 'b' } });
    assert.equal(matches?.({ a: 'b', c: 'd' }), true);
    assert.equal(matches?.({ a: 'c' }), false);
    assert.equal(matcherOf(null)?.({ a: 'b' }), false);
  });

  it('has nothing to say for empty and broken selectors', () => {
    assert.equal(matcherOf({}), undefined);
    assert.equal(matcherOf({ matchLabels: { 'a b': 'c' } }), undefined);
    assert.ok(isEmptySelector({ matchLabels: {} }));
    assert.ok(!isEmptySelector({ matchLabels: { a: '' } }));
  });
});
