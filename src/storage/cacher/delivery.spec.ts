import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallbackTimers } from '../../base/machinery/timers.js';
import { Delivery, type DeliveryTurn } from './delivery.js';

/** An event loop in which the test sets how long rounds, and the work in them, take. */
class Rounds implements CallbackTimers {
  time = 0;
  private next: (() => void)[] = [];
  private later: { readonly at: number; readonly callback: () => void }[] = [];

  elapsed(): number {
    return this.time;
  }

  soon(callback: () => void): void {
    this.next.push(callback);
  }

  after(ms: number, callback: () => void): () => void {
    this.later.push({ at: this.time + ms, callback });
    return () => assert.fail('nothing is cancelled');
  }

  /** Runs a round with `othersMs` of other work in it. Returns false when nothing is left to do. */
  run(othersMs = 0): boolean {
    this.time += othersMs;
    const due = this.later.filter(({ at }) => at <= this.time);
    this.later = this.later.filter(({ at }) => at > this.time);
    const callbacks = [...due.map(({ callback }) => callback), ...this.next.splice(0)];
    for (const callback of callbacks) callback();
    if (callbacks.length === 0 && this.later[0] !== undefined) this.time = this.later[0].at;
    return callbacks.length > 0 || this.later.length > 0;
  }
}

/** Watchers whose events take some time to write, and the order in which they received them. */
function scene(count: number, handMs: number) {
  const rounds = new Rounds();
  const delivery = new Delivery(rounds);
  const turns: { readonly watcher: number; readonly at: number }[] = [];
  const watchers = Array.from({ length: count }, (_, watcher) => ({
    lastTurn: undefined as DeliveryTurn | undefined,
    hand: () => {
      rounds.time += handMs;
      turns.push({ watcher, at: rounds.time });
    },
  }));
  const change = () => {
    for (const watcher of watchers) delivery.add(watcher);
    delivery.start();
  };
  return { rounds, delivery, turns, watchers, change };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('Delivery', () => {
  it('hands a change that comes alone over at once, and before it returns', () => {
    const { rounds, turns, change } = scene(3, 0.02);
    for (let i = 1; i <= 5; i++) {
      change();
      assert.equal(turns.length, 3 * i);
      while (rounds.run());
      rounds.time += 1;
    }
  });

  it('never takes long without a break, however many watchers there are', () => {
    const { rounds, turns, change } = scene(10_000, 0.02);
    change();
    let seen = 0;
    let longest = 0;
    do {
      const [first, last] = [turns[seen], turns.at(-1)];
      if (first !== undefined && last !== undefined) longest = Math.max(longest, last.at - first.at);
      seen = turns.length;
      // A heavily loaded process: a lot of other work in each round.
    } while (rounds.run(20));
    assert.equal(seen, 10_000);
    assert.ok(longest <= 6, `${longest} ms`);
  });

  it('gives all about as many turns, the first in the row the first', () => {
    const { rounds, turns, change } = scene(200, 0.02);
    change();
    // Changes arrive all the time.
    for (let i = 0; i < 600; i++) {
      rounds.run(0.3);
      change();
    }
    while (rounds.run());
    assert.deepEqual(
      turns.slice(0, 200).map(({ watcher }) => watcher),
      numbers(200),
    );
    const counts = numbers(200).map((watcher) => turns.filter((turn) => turn.watcher === watcher).length);
    assert.ok(Math.min(...counts) >= 5, `${counts}`);
    assert.ok(Math.max(...counts) <= 1.5 * Math.min(...counts), `${counts}`);
  });

  it('leaves the greater part of the time to others while changes come all the time', () => {
    const { rounds, turns, change } = scene(500, 0.02);
    change();
    while (rounds.time < 1_000) {
      rounds.run(0.2);
      change();
    }
    const share = (turns.length * 0.02) / rounds.time;
    assert.ok(share > 0.3 && share < 0.5, `${share}`);
  });

  it('hands out what is added meanwhile, also by a watcher that gets its turn', () => {
    const { rounds, delivery, turns, watchers, change } = scene(2, 0.02);
    const [first, second] = watchers as [(typeof watchers)[0], (typeof watchers)[0]];
    const { hand } = first;
    first.hand = () => {
      hand();
      first.hand = hand;
      delivery.add(second);
      delivery.add(first);
      delivery.start();
    };
    change();
    while (rounds.run());
    assert.deepEqual(
      turns.map(({ watcher }) => watcher),
      [0, 1, 0],
    );
  });
});
