import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ProcessorShare } from './processor-share.js';

it('is the part of the active time in which the thread had a processor', () => {
  let [cpu, active] = [10, 10];
  const share = new ProcessorShare({ cpuMs: () => cpu, activeMs: () => active });
  cpu += 5;
  active += 20;
  assert.equal(share.take(), 0.25);
  assert.equal(share.take(), 1, 'nothing passed');
  cpu += 30;
  active += 20;
  assert.equal(share.take(), 1);
});

it('knows the times of its thread', async () => {
  const share = new ProcessorShare();
  await new Promise((resolve) => setTimeout(resolve, 1));
  share.take();
  const until = process.threadCpuUsage().user / 1000 + 20;
  while (process.threadCpuUsage().user / 1000 < until);
  await new Promise((resolve) => setTimeout(resolve, 1));
  const taken = share.take();
  assert.ok(taken > 0 && taken <= 1, `${taken}`);
});
