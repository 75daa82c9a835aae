import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { StepQueue } from './step-queue.js';
import type { Steps } from './turns.js';

let now = 0;
const elapsed = () => now;

/** Work whose steps each take a whole turn. */
function* slow(name: string, steps: number, log: string[]): Steps<string> {
  for (let i = 0; i < steps; i++) {
    log.push(name);
    now += 6;
    yield;
  }
  return name;
}

it('has one turn in a round, in order, and what somebody waits for first', async () => {
  const queue = new StepQueue(elapsed);
  const log: string[] = [];
  const results = ['a', 'b', 'c'].map((name) => queue.add(slow(name, 2, log)));
  assert.deepEqual(log, [], 'nothing at once');
  for (let round = 0; log.length === 0; round++) {
    assert.ok(round < 3);
    await nextRound();
  }
  assert.deepEqual(log, ['a'], 'one turn');
  const last = results[2]?.get();
  assert.ok(last instanceof Promise);
  assert.equal(await last, 'c');
  assert.equal(results[2]?.get(), 'c', 'known from then on');
  assert.equal(await results[1]?.get(), 'b');
  assert.equal(await results[0]?.get(), 'a');
  assert.deepEqual(log, ['a', 'c', 'c', 'a', 'b', 'b'], 'a turn that has time left goes on with the next');
});

it('passes on to callers what work threw, and goes on with other work', async () => {
  const queue = new StepQueue(elapsed);
  const failed = queue.add(
    // biome-ignore lint/correctness/useYield: fails in its first step
    (function* (): Steps<never> {
      throw new Error('broken');
    })(),
  );
  const fine = queue.add(slow('a', 1, []));
  assert.equal(await fine.get(), 'a');
  assert.throws(() => failed.get(), /broken/);
  const again = queue.add(slow('b', 1, []));
  assert.equal(await again.get(), 'b', 'starts again after a pause');
});

it('does many short pieces of work in one turn', async () => {
  const queue = new StepQueue(elapsed);
  const results = Array.from({ length: 100 }, (_, i) =>
    queue.add(
      // biome-ignore lint/correctness/useYield: one step
      (function* (): Steps<number> {
        return i;
      })(),
    ),
  );
  for (let round = 0; results.at(-1)?.get() instanceof Promise; round++) {
    assert.ok(round < 20, `${round} rounds`);
    await nextRound();
  }
});
