import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodFailurePolicy, SuccessPolicy } from '../../../objects/apis/batch/v1/job.types.js';
import { IndexSet } from './index-set.js';
import { remainingPauseMs } from './job-back-off.js';
import type { JobPod } from './job-pod.js';
import { judgeFailure } from './pod-failure-policy.js';
import { fulfilledRule } from './success-policy.js';

/** A pod whose containers ended with these codes; undefined: still running. */
function pod(codes: Readonly<Record<string, number | undefined>>, conditions: readonly string[] = []): JobPod {
  const containerStatuses = Object.entries(codes).map(([name, exitCode]) => ({
    name,
    state: exitCode === undefined ? { running: {} } : { terminated: { exitCode } },
  }));
  const status = {
    phase: 'Failed',
    containerStatuses,
    conditions: conditions.map((type) => ({ type, status: 'True' })),
  };
  return { metadata: { name: 'p', namespace: 'ns' }, status } as unknown as JobPod;
}

describe('judgeFailure', () => {
  const policy: PodFailurePolicy = {
    rules: [
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42], containerName: 'main' } },
      { action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } },
      { action: 'Count', onExitCodes: { operator: 'NotIn', values: [1, 2] } },
    ],
  };
  for (const [name, failed, action, counts, message] of [
    [
      'a condition',
      pod({ main: 42 }, ['DisruptionTarget']),
      'Ignore',
      false,
      'Pod ns/p has condition DisruptionTarget matching Ignore rule at index 0',
    ],
    [
      'the code of a named container',
      pod({ main: 42 }),
      'FailJob',
      true,
      'Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1',
    ],
    [
      'the code of any container',
      pod({ main: 0, side: 42 }),
      'FailIndex',
      true,
      'Container side for pod ns/p failed with exit code 42 matching FailIndex rule at index 2',
    ],
    [
      'other codes',
      pod({ main: 3 }),
      'Count',
      true,
      'Container main for pod ns/p failed with exit code 3 matching Count rule at index 3',
    ],
    ['no rule', pod({ main: 2 }, ['Ready']), undefined, true, ''],
    ['success of a container, which no rule is about', pod({ main: 0 }), undefined, true, ''],
    ['a container that still runs', pod({ main: undefined }), undefined, true, ''],
  ] as const) {
    it(`judges by ${name}`, () => {
      assert.deepEqual(judgeFailure(policy, failed), { action, counts, message });
    });
  }
});

describe('fulfilledRule', () => {
  const policy: SuccessPolicy = {
    rules: [{ succeededIndexes: '0,2-4', succeededCount: 2 }, { succeededIndexes: '1' }, { succeededCount: 4 }],
  };
  for (const [succeeded, rule] of [
    ['', undefined],
    ['0,5', undefined],
    ['0,3', 0],
    ['1', 1],
    ['5-8', 2],
  ] as const) {
    it(`finds ${rule === undefined ? 'none' : `rule ${rule}`} for "${succeeded}"`, () => {
      const expected = rule === undefined ? undefined : `Matched rules at index ${rule}`;
      assert.equal(fulfilledRule(policy, 10, IndexSet.parse(succeeded)), expected);
    });
  }

  it('knows no rule without a policy', () => {
    assert.equal(fulfilledRule(undefined, 10, IndexSet.parse('0-9')), undefined);
  });
});

describe('remainingPauseMs', () => {
  for (const [failures, elapsed, left] of [
    [0, 0, 0],
    [1, 0, 10_000],
    [1, 4_000, 6_000],
    [2, 0, 20_000],
    [6, 0, 320_000],
    [7, 0, 600_000],
    [1000, 599_000, 1_000],
    [3, 60_000, 0],
  ] as const) {
    it(`is ${left} ms, ${elapsed} ms after failure ${failures}`, () => {
      assert.equal(remainingPauseMs(failures, 5_000, 5_000 + elapsed), left);
    });
  }
});
