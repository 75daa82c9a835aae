import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inTurns, type Steps, Turn } from './turns.js';

/** A clock that only work advances. */
function clockOf(test: TestContext): (ms: number) => void {
  let now = 1;
  test.mock.method(performance, 'now', () => now);
  return (ms) => {
    now += ms;
  };
}

/** Resolves with the number of steps in each round of the event loop until all work is done. */
async function stepsByRound(work: Promise<unknown>, count: () => number): Promise<number[]> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const rounds: number[] = [];
  for (let before = 0; !isDone; before = count()) {
    await setImmediate();
    rounds.push(count() - before);
  }
  await done;
  return rounds;
}

it('goes on with one piece of long work in a round, however much there is', async (test) => {
  const pass = clockOf(test);
  let steps = 0;
  function* long(): Steps {
    for (let i = 0; i < 20; i++) {
      steps++;
      pass(5);
      yield;
    }
  }
  async function loop(): Promise<void> {
    const turn = new Turn();
    for (let i = 0; i < 20; i++) {
      steps++;
      pass(5);
      if (turn.isOver) await turn.next();
    }
  }
  const work = Promise.all([...Array.from({ length: 8 }, () => inTurns(long())), loop(), loop()]);
  assert.equal(steps, 10, 'each begins at once');
  const rounds = await stepsByRound(work, () => steps);
  assert.ok(Math.max(...rounds.slice(1)) <= 2, rounds.join(' '));
  assert.equal(steps, 200);
});

it('has half of the time where other work makes rounds long', async (test) => {
  const pass = clockOf(test);
  let steps = 0;
  function* long(): Steps {
    for (let i = 0; i < 40; i++) {
      steps++;
      pass(5);
      yield;
    }
  }
  const work = Promise.all(Array.from({ length: 8 }, () => inTurns(long())));
  let isDone = false;
  void work.then(() => {
    isDone = true;
  });
  const rounds: number[] = [];
  for (let before = steps; !isDone; before = steps) {
    await setImmediate();
    pass(20);
    rounds.push(steps - before);
  }
  const middle = rounds.slice(3, -6);
  assert.ok(
    middle.every((count) => count >= 3 && count <= 6),
    rounds.join(' '),
  );
});

it('does not let short work wait', async (test) => {
  const pass = clockOf(test);
  function* short(): Steps<number> {
    pass(0.5);
    yield;
    return 7;
  }
  let result = 0;
  void inTurns(short()).then((value) => {
    result = value;
  });
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(result, 7);
});
