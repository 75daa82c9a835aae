import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredPod } from './indexes.js';
import { availableInMs, isPodActive, isPodFinished, isPodTerminating } from './pod-state.js';

const since = '2030-01-01T00:00:00Z';
const start = Date.parse(since);

function pod(status: object, metadata: object = {}): StoredPod {
  return { metadata, spec: { containers: [] }, status } as unknown as StoredPod;
}

function ready(status: string, lastTransitionTime: string | null = since) {
  return pod({ phase: 'Running', conditions: [{ type: 'Ready', status, lastTransitionTime }] });
}

describe('availableInMs', () => {
  const cases: readonly (readonly [string, StoredPod, number, number, number | undefined])[] = [
    ['without conditions', pod({ phase: 'Running' }), 0, start, undefined],
    ['not ready', ready('False'), 0, start, undefined],
    ['ready, at once', ready('True'), 0, start, 0],
    ['ready, at once, without a time', ready('True', null), 0, start, 0],
    ['ready without a time', ready('True', null), 10, start, undefined],
    ['ready for too short', ready('True'), 10, start + 4000, 6000],
    ['ready for exactly long enough', ready('True'), 10, start + 10_000, 0],
    ['ready for long', ready('True'), 10, start + 99_000, 0],
  ];
  for (const [what, given, seconds, now, expected] of cases) {
    it(what, () => assert.equal(availableInMs(given, seconds, now), expected));
  }
});

describe('what state a pod is in', () => {
  const deleted = { deletionTimestamp: since };
  const cases: readonly (readonly [string, StoredPod, boolean, boolean, boolean])[] = [
    ['pending', pod({ phase: 'Pending' }), true, false, false],
    ['running', pod({ phase: 'Running' }), true, false, false],
    ['succeeded', pod({ phase: 'Succeeded' }), false, false, true],
    ['failed', pod({ phase: 'Failed' }), false, false, true],
    ['running and being deleted', pod({ phase: 'Running' }, deleted), false, true, false],
    ['failed and being deleted', pod({ phase: 'Failed' }, deleted), false, false, true],
  ];
  for (const [what, given, active, terminating, finished] of cases) {
    it(what, () => {
      assert.equal(isPodActive(given), active);
      assert.equal(isPodTerminating(given), terminating);
      assert.equal(isPodFinished(given), finished);
    });
  }
});
