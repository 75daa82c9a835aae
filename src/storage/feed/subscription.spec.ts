import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, ChangeBatch } from '../storage.interface.js';
import type { ChangeLog } from './change-log.js';
import { Subscription } from './subscription.js';

const noLog = {} as ChangeLog;

const changeAt = (resourceVersion: bigint): Change => ({
  type: 'create',
  key: { resource: 'things', namespace: 'default', name: `n-${resourceVersion}` },
  uid: 'u',
  resourceVersion,
  json: '{}',
  previousJson: undefined,
});

/** A subscription that has joined at version 1, and the batches its consumer receives. */
function subscribed(): { readonly subscription: Subscription; readonly got: ChangeBatch[] } {
  const limits = { changes: 10, characters: 1_000 };
  const subscription = new Subscription({ resource: 'things' }, 1n, 1n, { log: noLog, limits, onEnd: () => undefined });
  const got: ChangeBatch[] = [];
  const follow = async () => {
    for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) got.push(batch);
  };
  void follow();
  return { subscription, got };
}

describe('a subscription without changes', () => {
  it('knows its position at once, and tells it when it is asked to', async () => {
    const { subscription, got } = subscribed();
    for (const position of [2n, 3n, 4n]) subscription.advance(position);
    await nextTurn();
    assert.deepEqual(got, []);
    assert.equal(subscription.quietPosition, 4n);
    subscription.sendPosition();
    await nextTurn();
    assert.deepEqual(got, [{ changes: [], position: 4n }]);
    subscription.close();
  });

  it('sends every position at once up to the version that somebody waits for', async () => {
    const { subscription, got } = subscribed();
    subscription.hasten(3n);
    for (const position of [2n, 3n, 4n]) {
      subscription.advance(position);
      await nextTurn();
    }
    subscription.hasten(4n);
    await nextTurn();
    assert.deepEqual(
      got.map(({ position }) => position),
      [2n, 3n, 4n],
    );
    subscription.close();
  });

  it('sends changes at once, and no position before they are taken', async () => {
    const { subscription, got } = subscribed();
    subscription.offer(changeAt(2n));
    assert.equal(subscription.quietPosition, undefined);
    subscription.advance(2n);
    // The change is on its way.
    assert.equal(subscription.quietPosition, undefined);
    await nextTurn();
    assert.deepEqual(got, [{ changes: [changeAt(2n)], position: 2n }]);
    assert.equal(subscription.quietPosition, 2n);
    subscription.close();
  });
});
