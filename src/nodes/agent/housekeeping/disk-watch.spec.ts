import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { DiskWatch } from './disk-watch.js';

/** A clock that advances when everybody waits. */
function quickTimers(untilMs: number, stop: () => void): Timers {
  let now = 0;
  return {
    now: () => now,
    elapsed: () => now,
    wait: async (milliseconds) => {
      const target = now + milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
      now = Math.max(now, target);
      if (now >= untilMs) stop();
    },
  };
}

describe('DiskWatch', () => {
  it('measures every pod in its turn, and one that takes long less often', async () => {
    const stopping = new AbortController();
    const timers = quickTimers(200_000, () => stopping.abort());
    const counts = new Map<string, number>();
    let [busy, most] = [0, 0];
    const watch = new DiskWatch({
      ...{ timers, logger: { debug: () => undefined } as unknown as Logger },
      pods: () => ['slow', 'a', 'b', 'failing'],
      check: async (uid) => {
        busy += 1;
        most = Math.max(most, busy);
        counts.set(uid, (counts.get(uid) ?? 0) + 1);
        if (uid === 'slow') await timers.wait(15_000, stopping.signal);
        busy -= 1;
        if (uid === 'failing') throw new Error('gone');
      },
    });
    await watch.run(stopping.signal);
    assert.ok(most <= 2, `${most} at a time`);
    assert.ok((counts.get('slow') ?? 0) <= 2, `${counts.get('slow')} of the slow one`);
    for (const uid of ['a', 'b', 'failing']) assert.ok((counts.get(uid) ?? 0) >= 10, `${counts.get(uid)} of ${uid}`);
  });
});
