import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ManualTimers } from '../testing/manual-timers.js';
import { ContendedTurns } from './contended-turns.js';

function setUp() {
  const timers = new ManualTimers();
  const contended = new Set<string>();
  const turns = new ContendedTurns(timers, (namespace) => contended.has(namespace), { contended: 10, free: 100 });
  const controller = new AbortController();
  const passed: string[] = [];
  const take = (namespace: string, name: string, signal = controller.signal) =>
    void (async () => {
      await turns.take(namespace, signal);
      passed.push(`${namespace}/${name}`);
    })();
  /** Time passes in steps, so that the wait of each turn can begin. */
  const pass = async (milliseconds: number) => {
    for (let at = 0; at < milliseconds || at === 0; at += 10) {
      timers.advance(Math.min(10, milliseconds));
      await setImmediate();
    }
  };
  return { turns, contended, take, passed, pass, controller };
}

describe('ContendedTurns', () => {
  it('lets creations pass at once while nobody else has work', async () => {
    const { turns, take, passed, pass } = setUp();
    for (let i = 0; i < 50; i++) take('a', `${i}`);
    await pass(0);
    assert.equal(passed.length, 50);
    assert.equal(turns.expectedSeconds('a'), 0);
  });

  it('lets them pass one after the other while others have work, each namespace on its own', async () => {
    const { turns, contended, take, passed, pass } = setUp();
    contended.add('a');
    contended.add('b');
    for (let i = 0; i < 40; i++) take('a', `${i}`);
    assert.equal(turns.expectedSeconds('a'), 3);
    for (let i = 0; i < 5; i++) take('b', `${i}`);
    await pass(0);
    assert.equal(passed.length, 15, "a second's worth of each");
    await pass(1000);
    assert.deepEqual(
      passed.slice(15),
      Array.from({ length: 10 }, (_, i) => `a/${10 + i}`),
    );
  });

  it('lets those that wait pass fast, in order, when the others have no work any more', async () => {
    const { contended, take, passed, pass } = setUp();
    contended.add('a');
    for (let i = 0; i < 40; i++) take('a', `${i}`);
    await pass(100);
    contended.clear();
    await pass(100);
    take('a', 'late');
    await pass(300);
    assert.equal(passed.length, 41);
    assert.equal(passed.at(-1), 'a/late');
    take('a', 'at once');
    await pass(0);
    assert.equal(passed.at(-1), 'a/at once');
  });

  it('ends all waits with their signals, and those of others go on', async () => {
    const { contended, take, passed, pass, controller } = setUp();
    const other = new AbortController();
    contended.add('a');
    for (let i = 0; i < 15; i++) take('a', `${i}`);
    take('a', 'other', other.signal);
    controller.abort();
    await pass(0);
    assert.equal(passed.length, 15);
    await pass(200);
    assert.equal(passed.at(-1), 'a/other');
  });
});
