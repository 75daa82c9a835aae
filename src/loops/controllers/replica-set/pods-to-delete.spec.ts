import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime } from '../../../base/machinery/clock.js';
import type { StoredPod } from '../frame/indexes.js';
import { podsToDelete } from './pods-to-delete.js';

const now = Date.parse('2030-01-01T00:00:00Z');
const names = { labelPrefix: 'kubernetes.io' };

interface Given {
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: number | false;
  readonly cost?: string;
  readonly restarts?: number;
  readonly age?: number;
  readonly uid?: string;
}

/**
 * A pod by its relevant fields; `ready` and `age` are seconds ago. Default: an old pod that has been ready for long.
 */
function pod(name: string, given: Given = {}): StoredPod {
  const { node = 'n', phase = 'Running', ready = 90_000, cost, restarts = 0, age = 100_000, uid = name } = given;
  const ago = (seconds: number) => formatTime(now - seconds * 1000);
  const condition = ready === false ? { status: 'False' } : { status: 'True', lastTransitionTime: ago(ready) };
  return {
    metadata: {
      name,
      uid,
      creationTimestamp: ago(age),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: { nodeName: node, containers: [] },
    status: { phase, conditions: [{ type: 'Ready', ...condition }], containerStatuses: [{ restartCount: restarts }] },
  } as unknown as StoredPod;
}

function chosen(
  pods: readonly StoredPod[],
  count: number,
  related: readonly StoredPod[] = pods,
): (string | undefined)[] {
  return podsToDelete(pods, count, { names, related, now }).map(({ metadata }) => metadata.name);
}

describe('podsToDelete', () => {
  const pairs: readonly (readonly [string, Given, Given])[] = [
    ['without a node before with one', { node: '' }, {}],
    ['pending before unknown', { phase: 'Pending' }, { phase: 'Unknown' }],
    ['unknown before running', { phase: 'Unknown' }, { ready: false }],
    ['not ready before ready', { ready: false }, {}],
    ['not ready before ready, whatever the cost', { ready: false, cost: '100' }, { cost: '-100' }],
    ['low cost before high cost', { cost: '1' }, { cost: '2' }],
    ['negative cost before none', { cost: '-1' }, {}],
    ['no cost before a positive one', {}, { cost: '1' }],
    ['ready for a short time before ready for long', { ready: 10 }, { ready: 80_000 }],
    ['often restarted before seldom restarted', { restarts: 3 }, { restarts: 2 }],
    ['young before old', { age: 100, ready: 50 }, { age: 5000, ready: 50 }],
    ['of one age: by uid', { uid: 'a', age: 1000 }, { uid: 'b', age: 999 }],
    ['a cost in another notation counts as none', { cost: '+5', uid: 'a' }, { uid: 'b' }],
    ['a cost beyond 32 bits counts as none', { cost: '2147483648', uid: 'a' }, { uid: 'b' }],
  ];
  for (const [what, first, second] of pairs) {
    it(what, () => {
      assert.deepEqual(chosen([pod('second', second), pod('first', first)], 1), ['first']);
      assert.deepEqual(chosen([pod('first', first), pod('second', second)], 1), ['first']);
    });
  }

  it('takes from crowded nodes, counting all related pods', () => {
    const mine = [pod('a', { node: 'n1' }), pod('b', { node: 'n2' })];
    const others = [pod('c', { node: 'n2' }), pod('d', { node: 'n2' }), pod('e', { node: 'n1' })];
    assert.deepEqual(chosen(mine, 1, [...mine, ...others]), ['b']);
  });

  it('takes all when all are asked for', () => {
    assert.deepEqual(chosen([pod('a'), pod('b', { ready: false })], 2), ['a', 'b']);
  });
});
