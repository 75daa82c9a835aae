import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Timers } from '../../controllers/timers.js';
import { longestSilenceMs, WorkerPulse } from './worker-pulse.js';

/** Waits end at once. */
class QuickTimers implements Timers {
  waitedMs = 0;
  now = () => 0;
  elapsed = () => 0;

  async wait(milliseconds: number): Promise<void> {
    this.waitedMs += milliseconds;
  }
}

it('gives up a worker that answers nothing, after the time that is told', async () => {
  const timers = new QuickTimers();
  let asked = 0;
  const pulse = new WorkerPulse(timers, () => asked++);
  assert.equal(await pulse.isLost(new AbortController().signal), true);
  assert.equal(asked, 6);
  assert.equal(
    timers.waitedMs - longestSilenceMs,
    longestSilenceMs / asked,
    'the first question comes after one pause',
  );
});

it('keeps a worker that answers late, as long as it answers', async () => {
  const end = new AbortController();
  let asked = 0;
  const pulse: WorkerPulse = new WorkerPulse(new QuickTimers(), () => {
    asked++;
    if (asked % 6 === 0) pulse.answered();
    if (asked === 60) end.abort();
  });
  assert.equal(await pulse.isLost(end.signal), false);
  assert.equal(asked, 60);
});
