import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FairGate } from './fair-gate.js';
import { InvariantError } from './invariant-error.js';

function setUp(most: number) {
  const gate = new FairGate(most);
  const inside = new Map<string, () => void>();
  const order: string[] = [];
  const enter = (name: string, weight = 1) =>
    void gate.enter(name[0] as string, weight).then((leave) => {
      order.push(name);
      inside.set(name, leave);
    });
  const leave = async (name: string) => {
    inside.get(name)?.();
    inside.delete(name);
    await setImmediate();
  };
  return { enter, leave, inside, order };
}

it('lets parties take turns', async () => {
  const { enter, leave, order } = setUp(2);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) enter(name);
  await setImmediate();
  assert.deepEqual(order, ['a1', 'a2']);
  await leave('a1');
  await leave('a2');
  assert.deepEqual(order, ['a1', 'a2', 'a3', 'b1']);
});

it('lets no more in than it holds, and something heavier alone', async () => {
  const { enter, leave, order, inside } = setUp(10);
  enter('a1', 6);
  enter('a2', 6);
  enter('b1', 20);
  enter('c1', 1);
  await setImmediate();
  assert.deepEqual(order, ['a1']);
  await leave('a1');
  assert.deepEqual(order, ['a1', 'a2'], 'what is heavy keeps its turn: nothing lighter goes before it for ever');
  await leave('a2');
  assert.deepEqual(order, ['a1', 'a2', 'b1']);
  assert.deepEqual([...inside.keys()], ['b1']);
  await leave('b1');
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1']);
});

it('is left by work that fails', async () => {
  const gate = new FairGate(1);
  await assert.rejects(
    gate.run('a', 1, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(await gate.run('a', 1, async () => 'fine'), 'fine');
});

it('lets nobody leave twice', async () => {
  const leave = await new FairGate(1).enter('a');
  leave();
  assert.throws(leave, InvariantError);
});
