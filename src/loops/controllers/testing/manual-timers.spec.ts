import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualTimers } from './manual-timers.js';

const { signal } = new AbortController();

test('waits end at their own time, in order', async () => {
  const timers = new ManualTimers();
  const ended: number[] = [];
  const waits = [3_000, 1_000, 2_000].map((ms) => timers.wait(ms, signal).then(() => ended.push(ms)));
  timers.advance(2_000);
  await Promise.all(waits.slice(1));
  assert.deepEqual(ended, [1_000, 2_000]);
  assert.equal(timers.elapsed(), 2_000);
});

test('pauses end without time passing, longer waits do not', async () => {
  const timers = new ManualTimers();
  let longIsOver = false;
  void timers.wait(1_001, signal).then(() => {
    longIsOver = true;
  });
  const pause = timers.wait(1_000, signal);
  timers.endPauses();
  await pause;
  assert.equal(timers.elapsed(), 0);
  assert.equal(longIsOver, false);
});

test('a wait that nobody began is missed in the end, with those that there are', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const timers = new ManualTimers();
  void timers.wait(5_000, signal);
  const pause = timers.wait(10, signal);
  const missed = assert.rejects(
    timers.waiting((ms) => ms === 7_000),
    /none of these waits: 5000 \(5000 left\)$/,
  );
  now = 10_000;
  context.mock.timers.tick(10_000);
  await pause;
  now = 60_000;
  context.mock.timers.tick(50_000);
  await missed;
});

test('a wait is noticed when it begins', async () => {
  const timers = new ManualTimers();
  const noticed = timers.waiting((ms, left) => ms === 7_000 && left === 7_000);
  void timers.wait(7_000, signal);
  await noticed;
});
