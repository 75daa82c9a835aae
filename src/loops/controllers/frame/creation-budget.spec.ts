import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ManualTimers } from '../testing/manual-timers.js';
import { CreationBudget } from './creation-budget.js';

function setUp(isContended = () => false) {
  const timers = new ManualTimers();
  const budget = new CreationBudget({ objectsPerSecond: 10, bytesPerSecond: 1000 }, timers, undefined, isContended);
  const { signal } = new AbortController();
  const made: string[] = [];
  const create = (namespace: string, name: string, bytes = 1) =>
    void budget.spend(namespace, bytes, signal).then(() => made.push(`${namespace}/${name}`));
  const pass = async (milliseconds: number) => {
    timers.advance(milliseconds);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  };
  return { create, made, pass };
}

describe('CreationBudget', () => {
  it('lets a burst through, then so many objects a second, and nobody else waits for that', async () => {
    const { create, made, pass } = setUp();
    for (let i = 0; i < 150; i++) create('a', `${i}`);
    await pass(0);
    assert.equal(made.length, 100);
    create('b', 'x');
    await pass(0);
    assert.equal(made.at(-1), 'b/x');
    await pass(1000);
    assert.equal(made.length, 111);
    await pass(4000);
    assert.equal(made.length, 151);
    assert.equal(made.at(-1), 'a/149');
  });

  it('counts bytes', async () => {
    const { create, made, pass } = setUp();
    create('a', 'large', 20_000);
    create('a', 'small');
    await pass(9_000);
    assert.deepEqual(made, []);
    await pass(1_100);
    assert.deepEqual(made, ['a/large', 'a/small']);
  });

  it('gives back what was not used, up to the burst', async () => {
    const { create, made, pass } = setUp();
    for (let i = 0; i < 100; i++) create('a', `${i}`);
    await pass(60_000);
    for (let i = 0; i < 101; i++) create('a', `${i}`);
    await pass(0);
    assert.equal(made.length, 200);
  });

  it('creates a quarter as many objects while others would be held up, without the burst', async () => {
    let isContended = true;
    const { create, made, pass } = setUp(() => isContended);
    for (let i = 0; i < 60; i++) create('a', `${i}`);
    await pass(0);
    assert.equal(made.length, 2);
    for (let i = 0; i < 4; i++) await pass(400);
    assert.equal(made.length, 6);
    isContended = false;
    await pass(400);
    for (let i = 0; i < 53; i++) await pass(100);
    assert.equal(made.length, 60);
    assert.equal(made.at(-1), 'a/59');
  });
});
