import assert from 'node:assert/strict';
import { it } from 'node:test';
import { WriteQueue } from './write-queue.js';

it('a write that is put back into an empty queue still ends at its deadline', async (test) => {
  test.mock.timers.enable({ apis: ['setInterval'] });
  const queue = new WriteQueue(1, () => new Error('no connection'));
  const key = { resource: 'things', namespace: '', name: 'a' };
  const answer = queue.add({ op: 'create', key, uid: 'u', expected: null, json: '{}', previousJson: undefined });
  let isAnswered = false;
  const refused = assert.rejects(answer, { code: 'Unavailable' }).finally(() => {
    isAnswered = true;
  });
  const batch = queue.take();
  // Nothing waits now: nobody has to look at deadlines.
  test.mock.timers.tick(1);
  queue.putBack(batch);
  // The deadline itself is real time.
  while (performance.now() <= (batch[0]?.deadline ?? 0)) await new Promise((resolve) => setImmediate(resolve));
  test.mock.timers.tick(1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(isAnswered, 'it was given up');
  await refused;
});
