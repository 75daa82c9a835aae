import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StorageError } from '../storage-error.js';
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

it('lets short writes go before long ones that would fill the batch', async () => {
  const queue = new WriteQueue(1_000, () => undefined);
  const long = 'x'.repeat(1_500_000);
  const add = (name: string, json: string) =>
    queue
      .add({
        op: 'create',
        key: { resource: 'things', namespace: '', name },
        uid: name,
        expected: null,
        json,
        previousJson: undefined,
      })
      .catch(() => undefined);
  for (let i = 0; i < 3; i++) void add(`long-${i}`, long);
  for (let i = 0; i < 3; i++) void add(`short-${i}`, '{}');
  const names = () => queue.take().map((entry) => entry.write.key.name);
  assert.deepEqual(names(), ['long-0', 'short-0', 'short-1', 'short-2']);
  assert.deepEqual(names(), ['long-1']);
  assert.deepEqual(names(), ['long-2']);
  queue.close(new StorageError('Unavailable', 'the test is over'));
});
