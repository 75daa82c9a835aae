import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime } from '../../../base/machinery/clock.js';
import type { StoredPod } from '../frame/indexes.js';
import { budgetCountsOf, budgetStatus, failedStatus, needsExpected, type StoredBudget } from './budget-status.js';
import { clearTarget, staleInMs } from './stale-target.js';

const now = Date.parse('2030-01-01T00:00:00Z');
const ago = (seconds: number) => formatTime(now - seconds * 1000);

function budget(spec: object, status: object = {}): StoredBudget {
  const none = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return { metadata: { name: 'b', generation: 2 }, spec, status: { ...none, ...status } } as unknown as StoredBudget;
}

function pod(name: string, ready = true, metadata: object = {}): StoredPod {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  return {
    metadata: { name, ...metadata },
    spec: {},
    status: { phase: 'Running', conditions },
  } as unknown as StoredPod;
}

describe('countsOf', () => {
  const cases: readonly (readonly [string, object, number, number, boolean])[] = [
    ['a number that must stay', { minAvailable: 2 }, 3, 2, false],
    ['more than there are', { minAvailable: 5 }, 3, 5, false],
    ['a percentage that must stay, rounded up', { minAvailable: '50%' }, 5, 3, true],
    ['all must stay', { minAvailable: '100%' }, 4, 4, true],
    ['nothing must stay', { minAvailable: '0%' }, 4, 0, true],
    ['a number that may be away', { maxUnavailable: 1 }, 3, 2, true],
    ['more than there are may be away', { maxUnavailable: 5 }, 3, 0, true],
    ['a percentage that may be away, rounded up', { maxUnavailable: '50%' }, 5, 2, true],
    ['none may be away', { maxUnavailable: 0 }, 3, 3, true],
    ['no bound', {}, 3, 0, false],
  ];
  for (const [what, spec, expected, desired, needed] of cases) {
    it(what, () => {
      assert.deepEqual(budgetCountsOf(budget(spec), expected), { expected, desired });
      assert.equal(needsExpected(budget(spec)), needed);
    });
  }
});

describe('budgetStatus', () => {
  const spec = { minAvailable: 1 };

  it('counts healthy pods and says how many may go', () => {
    const status = budgetStatus(budget(spec), [pod('a'), pod('b'), pod('c', false)], { expected: 3, desired: 1 }, now);
    assert.deepEqual(status, {
      observedGeneration: 2,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 3,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'True',
          observedGeneration: 2,
          lastTransitionTime: '2030-01-01T00:00:00Z',
          reason: 'SufficientPods',
          message: '',
        },
      ],
    });
  });

  it('allows nothing below the bound, and nothing of nothing', () => {
    const few = budgetStatus(budget(spec), [pod('a')], { expected: 3, desired: 2 }, now);
    assert.equal(few.disruptionsAllowed, 0);
    assert.equal(few.conditions?.[0]?.reason, 'InsufficientPods');
    const none = budgetStatus(budget(spec), [], { expected: 0, desired: 0 }, now);
    assert.equal(none.disruptionsAllowed, 0);
    assert.equal(none.conditions?.[0]?.status, 'False');
  });

  it('does not count pods that are being deleted or on their way', () => {
    const given = budget(spec, { disruptedPods: { a: ago(10), gone: ago(10), b: ago(10) } });
    const pods = [pod('a'), pod('b', true, { deletionTimestamp: ago(1) }), pod('c')];
    const status = budgetStatus(given, pods, { expected: 3, desired: 1 }, now);
    assert.equal(status.currentHealthy, 1);
    assert.deepEqual(status.disruptedPods, { a: ago(10) });
  });

  it('counts a pod again that did not go in time', () => {
    const given = budget(spec, { disruptedPods: { a: ago(120), b: ago(119) } });
    const status = budgetStatus(given, [pod('a'), pod('b')], { expected: 2, desired: 0 }, now);
    assert.equal(status.currentHealthy, 1);
    assert.deepEqual(status.disruptedPods, { b: ago(119) });
  });

  it('keeps the time of a condition that stays, and other conditions', () => {
    const other = { type: 'Other', status: 'True', lastTransitionTime: ago(9), reason: 'R', message: '' };
    const known = { type: 'DisruptionAllowed', status: 'True', lastTransitionTime: ago(50), reason: 'X', message: 'm' };
    const given = budget(spec, { conditions: [known, other] });
    const same = budgetStatus(given, [pod('a')], { expected: 1, desired: 0 }, now).conditions;
    assert.deepEqual(same?.[0]?.lastTransitionTime, ago(50));
    assert.deepEqual(same?.[0]?.reason, 'SufficientPods');
    assert.deepEqual(same?.[1], other);
    const changed = budgetStatus(given, [pod('a')], { expected: 1, desired: 1 }, now).conditions;
    assert.deepEqual(changed?.[0]?.lastTransitionTime, ago(0));
  });
});

describe('failedStatus', () => {
  it('allows nothing and says why, and leaves the counts', () => {
    const given = budget({}, { disruptionsAllowed: 3, currentHealthy: 4, observedGeneration: 1 });
    const status = failedStatus(given, 'no way', now);
    assert.equal(status.disruptionsAllowed, 0);
    assert.equal(status.currentHealthy, 4);
    assert.equal(status.observedGeneration, 1);
    const [condition] = status.conditions ?? [];
    assert.equal(condition?.status, 'False');
    assert.equal(condition?.reason, 'SyncFailed');
    assert.equal(condition?.message, 'no way');
  });
});

describe('staleInMs', () => {
  function target(
    seconds: number,
    { status = 'True', reason = 'EvictionByEvictionAPI', phase = 'Running', metadata = {} } = {},
  ) {
    const conditions = [{ type: 'DisruptionTarget', status, reason, lastTransitionTime: ago(seconds) }];
    return { metadata, spec: {}, status: { phase, conditions } } as unknown as StoredPod;
  }

  const cases: readonly (readonly [string, StoredPod, number | undefined])[] = [
    ['no target', pod('a'), undefined],
    ['a new target', target(20), 100_000],
    ['an old target', target(120), 0],
    ['an older target', target(9999), 0],
    ['no target any more', target(500, { status: 'False' }), undefined],
    ['a target of its node', target(500, { reason: 'TerminationByKubelet' }), undefined],
    ['a target that ended', target(500, { phase: 'Failed' }), undefined],
    ['a target that goes', target(500, { metadata: { deletionTimestamp: ago(1) } }), undefined],
  ];
  for (const [what, given, expected] of cases) {
    it(what, () => assert.equal(staleInMs(given, now), expected));
  }

  it('is over once the mark is taken back', () => {
    const given = target(500);
    clearTarget(given, now);
    assert.equal(staleInMs(given, now), undefined);
    const [condition] = given.status.conditions ?? [];
    assert.equal(condition?.status, 'False');
    assert.equal(condition?.reason, undefined);
    assert.equal(condition?.lastTransitionTime, ago(0));
  });
});
