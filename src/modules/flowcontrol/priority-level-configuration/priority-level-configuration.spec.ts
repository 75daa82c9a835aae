import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { priorityLevelConfigurationResource } from './priority-level-configuration.resource.js';

describe('PriorityLevelConfiguration', () => {
  const tester = new DefinitionTester(priorityLevelConfigurationResource(testNames));
  const create = (spec: object, name = 'a') => tester.create({ metadata: { name }, spec });
  const limited = (limitResponse: object, more: object = {}) => ({
    type: 'Limited',
    limited: { limitResponse, ...more },
  });
  const queue = (queuing: object) => limited({ type: 'Queue', queuing });
  const at = 'spec.limited.limitResponse';

  it('is limited to a share, with queues, unless told otherwise', () => {
    const { object, causes } = create(queue({}));
    assert.deepEqual(causes, []);
    assert.deepEqual(object.spec, {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 30,
        limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        lendablePercent: 0,
      },
    });
    assert.deepEqual(tester.cells(object), ['a', 'Limited', 30, 64, 8, 50, '0s']);
    assert.equal(object.metadata.generation, 1);
    const rejecting = create(limited({ type: 'Reject' }, { nominalConcurrencyShares: 0 }));
    assert.deepEqual(rejecting.causes, []);
    assert.deepEqual(tester.cells(rejecting.object), ['a', 'Limited', 0, '<none>', '<none>', '<none>', '0s']);
  });

  it('is exempt only under one name', () => {
    const { object, causes } = create({ type: 'Exempt' }, 'exempt');
    assert.deepEqual(causes, []);
    assert.deepEqual(object.spec, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } });
    const wrong =
      "FieldValueInvalid | spec.type | Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'";
    assert.deepEqual(create({ type: 'Exempt' }).causes, [wrong]);
    assert.match(
      create(limited({ type: 'Reject' }), 'exempt').causes.join(),
      /if and only if `name` is 'exempt'.*except the 'spec.exempt' field must equal the fixed value/,
    );
  });

  it('keeps the level for all other requests unchanged', () => {
    const spec = limited({ type: 'Reject' }, { nominalConcurrencyShares: 5 });
    assert.deepEqual(create(spec, 'catch-all').causes, []);
    const { causes } = create(limited({ type: 'Reject' }), 'catch-all');
    assert.match(causes.join(), /^FieldValueInvalid \| spec \| .*: spec of 'catch-all' must equal the fixed value$/);
  });

  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{}, ['FieldValueRequired | spec.type | Required value']],
    [{ type: 'Limited' }, ['FieldValueRequired | spec.limited | Required value']],
    [limited({}), [`FieldValueRequired | ${at}.type | Required value`]],
    [limited({ type: 'Queue' }), [`FieldValueRequired | ${at}.queuing | Required value`]],
    [limited({ type: 'Reject', queuing: {} }), [`FieldValueForbidden | ${at}.queuing | Forbidden`]],
    [
      { ...limited({ type: 'Queue' }), type: 'x', exempt: { lendablePercent: -1 } },
      [
        'FieldValueNotSupported | spec.type | Unsupported value: "x": supported values: "Exempt", "Limited"',
        'FieldValueForbidden | spec.limited | Forbidden',
        `FieldValueRequired | ${at}.queuing | Required value`,
        'FieldValueForbidden | spec.exempt | Forbidden',
      ],
    ],
    [{ ...limited({ type: 'Reject' }), exempt: {} }, ['FieldValueForbidden | spec.exempt | Forbidden']],
    [
      limited({ type: 'Reject' }, { nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 }),
      [
        'FieldValueInvalid | spec.limited.nominalConcurrencyShares | Invalid value: -1: must be a non-negative integer',
        'FieldValueInvalid | spec.limited.lendablePercent | Invalid value: 101: must be between 0 and 100, inclusive',
        'FieldValueInvalid | spec.limited.borrowingLimitPercent | Invalid value: -1: if specified, must be a non-negative integer',
      ],
    ],
    [queue({ queues: 64, handSize: 10 }), []],
    [
      queue({ queues: 65, handSize: 10 }),
      [
        `FieldValueInvalid | ${at}.queuing.handSize | Invalid value: 10: required entropy bits of deckSize 65 and handSize 10 should not be greater than 60`,
      ],
    ],
    [
      queue({ queues: 4, handSize: 8 }),
      [`FieldValueInvalid | ${at}.queuing.handSize | Invalid value: 8: should not be greater than queues (4)`],
    ],
    [
      queue({ queues: 100_000_000, handSize: -1, queueLengthLimit: -1 }),
      [
        `FieldValueInvalid | ${at}.queuing.queueLengthLimit | Invalid value: -1: must be positive`,
        `FieldValueInvalid | ${at}.queuing.queues | Invalid value: 100000000: must not be greater than 10000000`,
        `FieldValueInvalid | ${at}.queuing.handSize | Invalid value: -1: must be positive`,
      ],
    ],
  ];
  for (const [spec, expected] of cases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(create(spec).causes, expected);
    });
  }

  it('judges changes by the same rules', () => {
    const { object } = create(queue({}));
    assert.equal(tester.patch(object, { spec: { limited: { nominalConcurrencyShares: -1 } } }).causes.length, 1);
    assert.equal(
      tester.patch(object, { spec: { limited: { nominalConcurrencyShares: 1 } } }).object.metadata.generation,
      2,
    );
    const conditions = [{ type: 'X', status: 'True' }, { type: 'X' }];
    assert.equal(tester.patch(object, { status: { conditions } }, 'status').causes.length, 1);
  });
});
