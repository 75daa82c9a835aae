import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Timers } from '../../../base/machinery/timers.js';
import { WorkerPulse } from './worker-pulse.js';

/** Waits end at once. */
class QuickTimers implements Timers {
  waitedMs = 0;
  now = () => 0;
  elapsed = () => 0;

  async wait(milliseconds: number): Promise<void> {
    this.waitedMs += milliseconds;
  }
}

for (const [when, most] of [
  ['starts', 24],
  ['serves', 6],
] as const) {
  it(`gives up a worker that ${when} and answers nothing, after the time that is told`, async () => {
    const timers = new QuickTimers();
    let asked = 0;
    const pulse = new WorkerPulse(timers, () => asked++);
    if (when === 'serves') pulse.ready();
    assert.equal(await pulse.isLost(new AbortController().signal), true);
    assert.equal(asked, most);
    assert.equal(
      timers.waitedMs - pulse.longestSilenceMs,
      pulse.longestSilenceMs / asked,
      'the first question comes after one pause',
    );
  });
}

it('forgives a worker that has started what it left unanswered before', async () => {
  const end = new AbortController();
  let asked = 0;
  const pulse: WorkerPulse = new WorkerPulse(new QuickTimers(), () => {
    asked++;
    if (asked === 20) pulse.ready();
  });
  assert.equal(await pulse.isLost(end.signal), true);
  assert.equal(asked, 26);
});

it('keeps a worker that answers late, as long as it answers', async () => {
  const end = new AbortController();
  let asked = 0;
  const pulse: WorkerPulse = new WorkerPulse(new QuickTimers(), () => {
    asked++;
    if (asked % 6 === 0) pulse.answered();
    if (asked === 60) end.abort();
  });
  pulse.ready();
  assert.equal(await pulse.isLost(end.signal), false);
  assert.equal(asked, 60);
});
