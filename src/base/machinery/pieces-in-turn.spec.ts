import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { PiecesInTurn, selectorTurn, turnFor } from './pieces-in-turn.js';

for (const [what, pieceMs, most] of [
  ['long pieces: one in each round', 5, 1],
  ['short pieces: a few in each round', 0.01, 8],
] as const) {
  it(`lets those that waited longest go on first; ${what}`, async () => {
    let now = 0;
    const turns = new PiecesInTurn(() => now);
    const done: number[] = [];
    const workers = 20;
    const work = async (name: number) => {
      for (let piece = 0; piece < 3; piece++) {
        await turns.turn();
        done.push(name);
        now += pieceMs;
      }
    };
    const all = Promise.all(Array.from({ length: workers }, (_, i) => work(i)));
    assert.deepEqual(done, []);
    let before = 0;
    for (let i = 0; i < 20 * workers && done.length < 3 * workers; i++) {
      await round();
      assert.ok(done.length - before <= most, `${done.length - before} in one round`);
      before = done.length;
    }
    await all;
    assert.deepEqual(
      done,
      Array.from({ length: 3 * workers }, (_, i) => i % workers),
    );
    // The turns begin again after an idle time.
    await round();
    await round();
    await work(0);
    assert.equal(done.length, 3 * workers + 3);
  });
}

for (const [pieceMs, rests] of [
  [1, 0],
  [5, 2],
  [10, 4],
  [500, 6],
] as const) {
  it(`gives other work ${rests} rounds after a piece of ${pieceMs} ms`, async () => {
    let now = 0;
    const turns = new PiecesInTurn(() => now);
    let done = 0;
    const all = Promise.all(
      Array.from({ length: 5 }, async () => {
        await turns.turn();
        done += 1;
        now += pieceMs;
      }),
    );
    while (done === 0) await round();
    let between = 0;
    for (const before = done; done === before; ) {
      await round();
      if (done === before) between += 1;
    }
    assert.equal(between, rests);
    await all;
  });
}

it('lets parties take turns, however much one has waiting', async () => {
  const turns = new PiecesInTurn();
  const done: string[] = [];
  const work = async (party: string, name: string) => {
    await turns.turn(party);
    done.push(name);
  };
  await Promise.all([...['a1', 'a2', 'a3'].map((name) => work('a', name)), work('b', 'b1')]);
  assert.deepEqual(done, ['a1', 'b1', 'a2', 'a3']);
});

it('gives turns to long texts only', async () => {
  const user = { name: 'u', uid: '', groups: [], extra: {} };
  assert.equal(turnFor({ user }, 64 * 1024), undefined);
  const begun = Array.from({ length: 3 }, async () => {
    await turnFor({ user }, 1_000_000);
    const until = performance.now() + 2;
    while (performance.now() < until);
    rounds.push(count);
  });
  const rounds: number[] = [];
  let count = 0;
  for (let i = 0; i < 10; i++) {
    await round();
    count += 1;
  }
  await Promise.all(begun);
  assert.equal(new Set(rounds).size, 3, `each in a round of its own: ${rounds}`);
});

it('gives turns to requests with long selectors, of labels or of fields', async () => {
  const user = { name: 'u', uid: '', groups: [], extra: {} };
  const turn = (query: Record<string, string>) => selectorTurn({ user, query: new URLSearchParams(query) });
  assert.equal(turn({}), undefined);
  assert.equal(turn({ labelSelector: 'a'.repeat(2_000), fieldSelector: 'b'.repeat(2_000) }), undefined);
  const order: string[] = [];
  const work = async (name: string, query: Record<string, string>) => {
    await turn(query);
    const until = performance.now() + 2;
    while (performance.now() < until);
    order.push(name);
  };
  const [first, second] = [{ labelSelector: 'a'.repeat(5_000) }, { fieldSelector: 'b'.repeat(5_000) }];
  const all = Promise.all([work('first', first), work('second', second)]);
  while (order.length === 0) await round();
  assert.deepEqual(order, ['first'], 'each in a round of its own');
  await all;
});
