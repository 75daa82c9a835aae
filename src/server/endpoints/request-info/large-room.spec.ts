import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { StatusError } from '../../../base/machinery/status-error.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { BytesInHand, bytesLimits } from '../../flow-control/bytes-in-hand.js';
import { roomForBody, roomForObject, type SharesBytes, throwIfWaiting } from './large-room.js';

const mebibyte = 2 ** 20;

describe('requests that work with large objects', () => {
  let inHand: BytesInHand;
  let calls: string[];
  beforeEach(() => {
    inHand = new BytesInHand({ ...bytesLimits, waitingReadBytes: 4 * mebibyte }, systemTimers);
    calls = [];
  });

  const contextOf = (name: string, groups: readonly string[] = []) =>
    ({
      user: { name, uid: '', groups, extra: {} },
      timeLimitMs: 60_000,
      bytesInHand: inHand,
      seat: {
        leave: () => undefined,
        waitForReader: () => calls.push('others may take the seat'),
        resume: () => void calls.push('needs the seat'),
      },
    }) as unknown as SharesBytes;

  it('wait for each other in a tenant, and let others have their seats meanwhile', async () => {
    const first = contextOf('mallory');
    assert.equal(roomForObject(first, 2 * mebibyte), undefined);
    const second = contextOf('mallory');
    const room = roomForObject(second, 2 * mebibyte);
    assert.ok(room !== undefined, 'the second one waits');
    assert.equal(roomForObject(contextOf('alice'), 2 * mebibyte), undefined, 'other tenants do not');
    assert.equal(roomForObject(contextOf('mallory'), 64 * 1024), undefined, 'nor does a small object');
    assert.deepEqual(calls, ['others may take the seat']);
    first.inHand?.leave();
    await room;
    assert.deepEqual(calls, ['others may take the seat', 'needs the seat']);
    assert.ok(second.inHand !== undefined);
  });

  it('do not wait again for their own share, such as that of a large body', async () => {
    const context = contextOf('mallory');
    assert.equal(roomForBody(context, 3 * mebibyte, inHand), undefined);
    assert.equal(roomForObject(context, 3 * mebibyte), undefined);
    assert.equal(inHand.bytes, 3 * mebibyte);
  });

  it('are refused before they read, when as many wait as may', async () => {
    const first = contextOf('mallory');
    assert.equal(roomForObject(first, 3 * mebibyte), undefined);
    const waiting = [2, 2].map((size) => {
      const context = contextOf('mallory');
      const room = roomForObject(context, size * mebibyte);
      assert.ok(room !== undefined);
      return { context, refused: assert.rejects(room, StatusError) };
    });
    assert.throws(
      () => throwIfWaiting(contextOf('mallory')),
      (error) => error instanceof StatusError && error.code === 429,
    );
    throwIfWaiting(contextOf('alice'));
    throwIfWaiting(contextOf('mallory', ['system:masters']));
    for (const { context } of waiting) context.inHand?.leave();
    await Promise.all(waiting.map(({ refused }) => refused));
    throwIfWaiting(contextOf('mallory'));
  });
});
