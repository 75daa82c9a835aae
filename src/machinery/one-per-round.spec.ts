import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { OnePerRound } from './one-per-round.js';

it('lets one piece go on in each round, those that waited longest first', async () => {
  const turns = new OnePerRound();
  const done: string[] = [];
  const work = async (name: string) => {
    for (let piece = 0; piece < 3; piece++) {
      await turns.turn();
      done.push(name);
    }
  };
  const all = Promise.all([work('a'), work('b')]);
  assert.deepEqual(done, []);
  const counts: number[] = [];
  for (let i = 0; i < 6; i++) {
    await round();
    counts.push(done.length);
  }
  await all;
  assert.deepEqual(done, ['a', 'b', 'a', 'b', 'a', 'b']);
  for (const [i, count] of counts.entries()) assert.ok(count - (counts[i - 1] ?? 0) <= 1, counts.join());
  // It begins again after it had nothing to do.
  await round();
  await round();
  await work('c');
  assert.equal(done.length, 9);
});
