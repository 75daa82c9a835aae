import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LoopPressure, leastRunning } from './loop-pressure.js';

it('lets fewer requests in while turns are long, more when they are short, and all when nothing is left', () => {
  let now = 0;
  let due: (() => void) | undefined;
  let isBusy = true;
  let share = 1;
  const reported: number[] = [];
  const after = (_ms: number, run: () => void) => {
    due = run;
    return () => {
      due = undefined;
    };
  };
  const pressure = new LoopPressure(
    600,
    () => now,
    after,
    (allowed) => reported.push(allowed),
    { take: () => share },
  );
  const sample = (late: number): void => {
    const run = due;
    due = undefined;
    now += 20 + late;
    run?.();
  };
  pressure.watch(() => isBusy);
  sample(50);
  assert.deepEqual(reported, [450]);
  for (let i = 0; i < 30; i++) sample(50);
  assert.equal(pressure.running, leastRunning);
  for (let i = 0; i < 10; i++) sample(0);
  assert.ok(pressure.running > leastRunning && pressure.running < 40, String(pressure.running));
  for (let i = 0; i < 200; i++) sample(0);
  assert.equal(pressure.running, 600);
  share = 0.02;
  for (let i = 0; i < 30; i++) sample(50);
  assert.equal(pressure.running, 600, 'other processes take the time');
  share = 1;
  sample(50);
  isBusy = false;
  sample(50);
  assert.equal(pressure.running, 600);
  assert.equal(due, undefined);
  assert.equal(reported.at(-1), 600);
});
