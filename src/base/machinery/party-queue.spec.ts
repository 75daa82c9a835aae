import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PartyQueue } from './party-queue.js';

function taken(queue: PartyQueue<string>, mayHave?: (party: string) => boolean): string[] {
  const items: string[] = [];
  for (let next = queue.take(mayHave); next !== undefined; next = queue.take(mayHave)) items.push(next.item);
  return items;
}

it('lets parties take turns, each with its items in order', () => {
  const queue = new PartyQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'a1']) queue.add(item[0] as string, item);
  assert.equal(queue.size, 6, 'an item waits once');
  assert.equal(queue.sizeOf('a'), 3);
  assert.deepEqual([...queue.parties()], ['a', 'b', 'c']);
  assert.deepEqual([...queue.of('a'), ...queue.of('d')], ['a1', 'a2', 'a3']);
  assert.equal(queue.take()?.item, 'a1');
  assert.deepEqual([...queue.parties()], ['b', 'c', 'a'], 'who had a turn comes last');
  queue.add('d', 'd1');
  assert.deepEqual(taken(queue), ['b1', 'c1', 'a2', 'd1', 'b2', 'a3']);
  assert.equal(queue.size, 0);
});

it('passes over parties that may not have their turn, which keep their place', () => {
  const queue = new PartyQueue<string>();
  for (const item of ['a1', 'b1', 'b2']) queue.add(item[0] as string, item);
  assert.deepEqual(
    taken(queue, (party) => party !== 'a'),
    ['b1', 'b2'],
  );
  assert.equal(queue.take()?.item, 'a1');
});

it('forgets what is removed', () => {
  const queue = new PartyQueue<string>();
  for (const item of ['a1', 'a2']) queue.add('a', item);
  assert.equal(queue.remove('a', 'a1'), true);
  assert.equal(queue.remove('a', 'a1'), false);
  assert.equal(queue.remove('b', 'b1'), false);
  assert.equal(queue.size, 1);
  assert.deepEqual(taken(queue), ['a2']);
});

it('has the order of a line that is given', () => {
  const queue = new PartyQueue<number>(() => {
    const items: number[] = [];
    return {
      get size() {
        return items.length;
      },
      add: (item) => items.push(item),
      take: () => items.pop(),
      remove: () => false,
      [Symbol.iterator]: () => items.values(),
    };
  });
  for (const item of [1, 2, 3]) queue.add('a', item);
  assert.deepEqual([queue.take()?.item, queue.take()?.item, queue.take()?.item], [3, 2, 1]);
});
