import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
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
  // Nothing waits now, so no deadline must be checked.
  test.mock.timers.tick(1);
  queue.putBack(batch);
  // The deadline itself is real time.
  while (performance.now() <= (batch[0]?.deadline ?? 0)) await new Promise((resolve) => setImmediate(resolve));
  test.mock.timers.tick(1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(isAnswered, 'it was given up');
  await refused;
});

it('says of a write that waited too long whether the database was busy or made no writes', async (test) => {
  test.mock.timers.enable({ apis: ['setInterval'] });
  let lastBatchAt = performance.now() - 1000;
  const queue = new WriteQueue(
    1,
    () => undefined,
    undefined,
    () => lastBatchAt,
  );
  const outcomeOf = async (name: string): Promise<unknown> => {
    const key = { resource: 'things', namespace: '', name };
    const answer = queue.add({ op: 'create', key, uid: 'u', expected: null, json: '{}', previousJson: undefined });
    const failure = answer.then(
      () => undefined,
      ({ code }: StorageError) => code,
    );
    if (name === 'busy') lastBatchAt = performance.now();
    const addedAt = performance.now();
    while (performance.now() <= addedAt + 1) await new Promise((resolve) => setImmediate(resolve));
    test.mock.timers.tick(1);
    return failure;
  };
  assert.equal(await outcomeOf('idle'), 'Unavailable');
  assert.equal(await outcomeOf('busy'), 'Overloaded');
});

const long = 'x'.repeat(1_500_000);

function queueWith(test: TestContext): {
  add: (namespace: string, name: string, json?: string) => void;
  take: () => string[];
} {
  const queue = new WriteQueue(60_000, () => undefined);
  test.after(() => queue.close(new StorageError('Unavailable', 'the test is over')));
  return {
    add: (namespace, name, json = '{}') => {
      const key = { resource: 'things', namespace, name };
      const write = { op: 'update', key, uid: name, expected: 1n, json, previousJson: undefined } as const;
      queue.add(write).catch(() => undefined);
    },
    take: () => queue.take().map(({ write }) => write.key.name),
  };
}

it('lets short writes go before long ones that would fill the batch, and long ones in turn with them', (test) => {
  const { add, take } = queueWith(test);
  for (let i = 0; i < 3; i++) add('a', `long-${i}`, long);
  for (let i = 0; i < 3; i++) add('a', `short-${i}`);
  assert.deepEqual(take(), ['long-0']);
  assert.deepEqual(take(), ['short-0', 'short-1', 'short-2']);
  assert.deepEqual(take(), ['long-1']);
  assert.deepEqual(take(), ['long-2']);
});

it('sends at most half a million characters at one time, unless a single write is longer', (test) => {
  const { add, take } = queueWith(test);
  for (let i = 0; i < 2; i++) add('a', `long-${i}`, 'x'.repeat(700_000));
  for (let i = 0; i < 6; i++) add('a', `middle-${i}`, 'x'.repeat(100_000));
  add('b', 'short');
  assert.deepEqual(take(), ['long-0']);
  assert.deepEqual(take(), ['short'], 'does not wait for what takes ten times as long');
  assert.deepEqual(take(), ['long-1']);
  assert.deepEqual(take(), ['middle-0', 'middle-1', 'middle-2', 'middle-3', 'middle-4']);
  assert.deepEqual(take(), ['middle-5']);
});

it('lets namespaces take turns', (test) => {
  const { add, take } = queueWith(test);
  for (let i = 0; i < 4; i++) add('a', `a-long-${i}`, long);
  assert.deepEqual(take(), ['a-long-0']);
  add('b', 'b-long', long);
  assert.deepEqual(take(), ['b-long'], 'before the others of the namespace that had its turn');
  for (let i = 0; i < 700; i++) add('a', `a-${i}`);
  add('b', 'b-short');
  const batch = take();
  assert.equal(batch.length, 500);
  assert.ok(batch.includes('b-short'), 'is not behind 500 of another namespace');
  assert.deepEqual(take(), ['a-long-1']);
});

it('never lets a write overtake one of its key', (test) => {
  const { add, take } = queueWith(test);
  add('a', 'other');
  add('a', 'x', long);
  add('a', 'x');
  add('a', 'another');
  assert.deepEqual(take(), ['x'], 'the long one');
  assert.deepEqual(take(), ['other', 'x', 'another']);
  add('a', 'x', long);
  add('a', 'x');
  add('a', 'other');
  assert.deepEqual(take(), ['x']);
  assert.deepEqual(take(), ['x', 'other']);
});
