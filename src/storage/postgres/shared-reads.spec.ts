import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SharedReads } from './shared-reads.js';

/** Records the requested rounds; the test decides when each one finishes. */
class Rounds {
  readonly asked: (readonly string[])[] = [];
  private readonly answers: ((values: readonly string[]) => void)[] = [];

  readonly load = (keys: readonly string[]): Promise<readonly string[]> => {
    this.asked.push(keys);
    return new Promise((resolve) => this.answers.push(resolve));
  };

  end(round: number): void {
    this.answers[round]?.((this.asked[round] ?? []).map((key) => `value of ${key}`));
  }
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

const itself = (key: string): string => key;

describe('SharedReads', () => {
  it('asks once for all calls of one turn of the event loop, and answers each with its own value', async () => {
    const rounds = new Rounds();
    const reads = new SharedReads(rounds.load, itself, 2);
    const calls = ['a', 'b', 'a'].map((key) => reads.get(key));
    await nextTurn();
    assert.deepEqual(rounds.asked, [['a', 'b']]);
    rounds.end(0);
    assert.deepEqual(await Promise.all(calls), ['value of a', 'value of b', 'value of a']);
  });

  it('never answers a call from a round that began before it', async () => {
    const rounds = new Rounds();
    const reads = new SharedReads(rounds.load, itself, 1);
    const first = reads.get('a');
    await nextTurn();
    let isAnswered = false;
    const second = reads.get('a').then(() => {
      isAnswered = true;
    });
    rounds.end(0);
    await first;
    assert.equal(isAnswered, false);
    await nextTurn();
    rounds.end(1);
    await second;
    assert.deepEqual(rounds.asked, [['a'], ['a']]);
  });

  it('lets few calls wait for the round under way, and begins another beside it for many', async () => {
    const rounds = new Rounds();
    const reads = new SharedReads(rounds.load, itself, 2);
    const first = reads.get('first');
    await nextTurn();
    const few = names('few', 3).map((key) => reads.get(key));
    await nextTurn();
    assert.equal(rounds.asked.length, 1);
    const last = reads.get('few3');
    await nextTurn();
    assert.deepEqual(rounds.asked[1], names('few', 4));
    const late = names('late', 40).map((key) => reads.get(key));
    await nextTurn();
    assert.equal(rounds.asked.length, 2, 'no more rounds than allowed');
    rounds.end(1);
    await Promise.all([...few, last]);
    await nextTurn();
    assert.deepEqual(rounds.asked[2], names('late', 40));
    rounds.end(2);
    rounds.end(0);
    await Promise.all([first, ...late]);
  });

  it('fails only the calls of a failed round', async () => {
    let isFirst = true;
    const load = async (keys: readonly string[]): Promise<readonly string[]> => {
      if (!isFirst) return keys;
      isFirst = false;
      throw new Error('lost');
    };
    const reads = new SharedReads(load, itself, 1);
    await assert.rejects(reads.get('a'), /lost/);
    assert.equal(await reads.get('a'), 'a');
  });

  it('leaves keys beyond the limit of a round to the next one', async () => {
    const rounds = new Rounds();
    const reads = new SharedReads(rounds.load, itself, 1, 2);
    const calls = names('k', 3).map((key) => reads.get(key));
    await nextTurn();
    rounds.end(0);
    await Promise.all(calls.slice(0, 2));
    await nextTurn();
    rounds.end(1);
    await Promise.all(calls);
    assert.deepEqual(rounds.asked, [['k0', 'k1'], ['k2']]);
  });

  it('does not wait for a round that does not end', async () => {
    const rounds = new Rounds();
    const reads = new SharedReads(rounds.load, itself, 2);
    const stuck = reads.get('a');
    await nextTurn();
    const call = reads.get('b');
    while (rounds.asked.length < 2) await nextTurn();
    rounds.end(1);
    assert.equal(await call, 'value of b');
    rounds.end(0);
    assert.equal(await stuck, 'value of a');
  });
});
