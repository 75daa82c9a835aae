import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RemovedPods } from './removed-pods.js';

it('RemovedPods finds pods that have a cgroup again, and for a while only', async () => {
  let now = 1_000;
  const present = new Set(['back', 'of-another-agent']);
  const removed = new RemovedPods({ podUids: async () => present }, '/kubepods', { elapsed: () => now });
  assert.deepEqual(await removed.comeBack(), []);
  removed.add('back');
  removed.add('gone');
  assert.deepEqual(await removed.comeBack(), ['back']);
  assert.deepEqual(await removed.comeBack(), [], 'not at once again');
  now += 11_000;
  assert.deepEqual(await removed.comeBack(), ['back']);
  now += 300_000;
  assert.deepEqual(await removed.comeBack(), []);
});
