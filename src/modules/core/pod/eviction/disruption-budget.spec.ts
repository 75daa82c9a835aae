import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../base/machinery/status-error.js';
import type { PodDisruptionBudget } from '../../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { mayGoUnready, withDisruption } from './disruption-budget.js';

const now = '2030-01-01T00:00:00Z';

function budget(status: object, generation = 3): PodDisruptionBudget {
  const known = { observedGeneration: 3, disruptionsAllowed: 2, currentHealthy: 4, desiredHealthy: 2, expectedPods: 4 };
  return { metadata: { name: 'b', generation }, spec: {}, status: { ...known, ...status } } as PodDisruptionBudget;
}

describe('withDisruption', () => {
  it('counts the pod and leaves the given budget alone', () => {
    const given = budget({ disruptedPods: { a: '2029-01-01T00:00:00Z' } });
    const before = structuredClone(given);
    const status = withDisruption(given, 'p', now);
    assert.deepEqual(given, before);
    assert.equal(status.disruptionsAllowed, 1);
    assert.deepEqual(status.disruptedPods, { a: '2029-01-01T00:00:00Z', p: now });
    assert.equal(status.conditions, undefined);
  });

  it('says in the conditions when none is left', () => {
    const conditions = [
      { type: 'Other', status: 'True', lastTransitionTime: 't', reason: 'R', message: '' },
      { type: 'DisruptionAllowed', status: 'True', lastTransitionTime: 't', reason: 'SufficientPods', message: '' },
    ];
    const status = withDisruption(budget({ disruptionsAllowed: 1, conditions }), 'p', now);
    assert.equal(status.disruptionsAllowed, 0);
    assert.deepEqual(status.conditions?.[0], conditions[0]);
    assert.deepEqual(status.conditions?.[1], {
      type: 'DisruptionAllowed',
      status: 'False',
      observedGeneration: 3,
      lastTransitionTime: now,
      reason: 'InsufficientPods',
      message: '',
    });
  });

  const refused: readonly (readonly [string, PodDisruptionBudget, number, RegExp])[] = [
    [
      'a status of an older spec',
      budget({}, 4),
      429,
      /The disruption budget b is still being processed by the server\./,
    ],
    [
      'a status of a later spec than this one',
      budget({ observedGeneration: 4 }),
      429,
      /The disruption budget b is still being processed by the server\./,
    ],
    [
      'nothing left',
      budget({ disruptionsAllowed: 0 }),
      429,
      /The disruption budget b needs 2 healthy pods and has 4 currently/,
    ],
    ['a number below zero', budget({ disruptionsAllowed: -1 }), 403, /pdb disruptions allowed is negative/],
    [
      'too many that nobody confirmed',
      budget({ disruptedPods: Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`p${i}`, now])) }),
      403,
      /DisruptedPods map too big/,
    ],
  ];
  for (const [what, given, code, text] of refused) {
    it(`refuses: ${what}`, () => {
      assert.throws(
        () => withDisruption(given, 'p', now),
        (error: unknown) => {
          assert.ok(error instanceof StatusError);
          assert.equal(error.code, code);
          assert.match(`${error.message} ${JSON.stringify(error.details?.causes)}`, text);
          return true;
        },
      );
    });
  }
});

describe('mayGoUnready', () => {
  const rows: readonly (readonly [string, PodDisruptionBudget, boolean])[] = [
    ['enough others are healthy', budget({ currentHealthy: 2 }), true],
    ['too few others are healthy', budget({ currentHealthy: 1 }), false],
    ['none has to be healthy', budget({ desiredHealthy: 0 }), false],
    ['the status is of an older spec', budget({}, 4), false],
    ['the status is of a later spec', budget({ observedGeneration: 4 }), false],
    ['the budget always allows it', { ...budget({}, 4), spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }, true],
  ];
  for (const [when, given, expected] of rows) {
    it(`${expected ? 'is true' : 'is false'} when ${when}`, () => assert.equal(mayGoUnready(given), expected));
  }
});
