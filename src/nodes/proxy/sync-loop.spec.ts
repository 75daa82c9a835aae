import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SyncLoop } from './sync-loop.js';

/** A clock that advances only when somebody waits. */
function patientTimers(log: string[]) {
  let now = 0;
  return {
    now: () => now,
    elapsed: () => now,
    wait: async (milliseconds: number, signal: AbortSignal) => {
      log.push(`waits ${milliseconds}`);
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!signal.aborted) now += milliseconds;
    },
  };
}

describe('SyncLoop', () => {
  it('runs at once, keeps the pause between runs, and looks after things when nothing happens', async () => {
    const log: string[] = [];
    const stop = new AbortController();
    const loop = new SyncLoop({
      timers: patientTimers(log),
      minPeriodMs: 1_000,
      periodMs: 30_000,
      run: async () => {
        log.push('runs');
        if (log.filter((line) => line === 'runs').length === 1) loop.request();
        return true;
      },
      check: async () => {
        log.push('checks');
        stop.abort();
        return false;
      },
    });
    loop.request();
    await loop.run(stop.signal);
    assert.deepEqual(log, ['runs', 'waits 1000', 'runs', 'waits 1000', 'waits 30000', 'checks']);
  });

  it('tries again after a failure, with pauses that grow', async () => {
    const log: string[] = [];
    const stop = new AbortController();
    const loop = new SyncLoop({
      timers: patientTimers(log),
      minPeriodMs: 0,
      periodMs: 3_000,
      run: async () => {
        log.push('runs');
        if (log.length < 7) return false;
        stop.abort();
        return true;
      },
      check: async () => false,
    });
    loop.request();
    await loop.run(stop.signal);
    assert.deepEqual(log, ['runs', 'waits 1000', 'runs', 'waits 2000', 'runs', 'waits 3000', 'runs']);
  });
});
