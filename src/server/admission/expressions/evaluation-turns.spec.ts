import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { EvaluationTurns } from './evaluation-turns.js';

it('gives each long evaluation a round of the event loop of its own, in order', async () => {
  const turns = new EvaluationTurns();
  let round = 0;
  let isRunning = true;
  const counting = (async () => {
    for (; isRunning; round++) await nextRound();
  })();
  const rounds: number[] = [];
  const order: number[] = [];
  const evaluate = async (id: number) => {
    await turns.next();
    rounds.push(round);
    order.push(id);
    turns.spent(10);
  };
  turns.spent(10);
  await Promise.all([1, 2, 3, 4].map((id) => evaluate(id)));
  assert.deepEqual(order, [1, 2, 3, 4]);
  assert.equal(new Set(rounds).size, 4, 'no two in one round');
  await nextRound();
  for (let i = 0; i < 4; i++) {
    assert.equal(turns.next(), undefined, 'short ones wait for nobody');
    turns.spent(1);
  }
  turns.spent(1);
  assert.notEqual(turns.next(), undefined);
  isRunning = false;
  await counting;
});

it('lets rounds pass after a very long evaluation, the more the longer it took', async () => {
  const turns = new EvaluationTurns();
  const roundsAfter = async (ms: number) => {
    turns.spent(ms);
    let isNext = false;
    const next = turns.next()?.then(() => {
      isNext = true;
    });
    let rounds = 0;
    for (; !isNext; rounds++) await nextRound();
    await next;
    await nextRound();
    return rounds;
  };
  const [short, long, longer] = [await roundsAfter(10), await roundsAfter(15), await roundsAfter(25)];
  assert.deepEqual([long - short, longer - short], [3, 5]);
});
