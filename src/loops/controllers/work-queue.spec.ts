import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import { PartyQueue } from '../../base/machinery/party-queue.js';
import { ManualTimers } from './testing/manual-timers.js';
import { type WorkOutcome, WorkQueue } from './work-queue.js';

/** Work that the test ends manually, one key at a time. */
function setUp(workers = 2) {
  const timers = new ManualTimers();
  const faults: string[] = [];
  const begun: string[] = [];
  let retries = 0;
  const ends = new Map<string, (outcome: WorkOutcome | Error) => void>();
  const queue = new WorkQueue({
    work: (key) => {
      begun.push(key);
      return new Promise((resolve, reject) => {
        ends.set(key, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
      });
    },
    onFault: (key, error) => faults.push(`${key}: ${(error as Error).message}`),
    workers,
    firstPauseMs: 100,
    longestPauseMs: 300,
    timers,
    observer: {
      added: () => undefined,
      depth: () => undefined,
      retried: () => void retries++,
      began: () => () => undefined,
      run: (_key, work) => work(),
    },
  });
  const stop = new AbortController();
  const ended = queue.run(stop.signal);
  const finish = async (key: string, outcome: WorkOutcome | Error) => {
    ends.get(key)?.(outcome);
    await settle();
  };
  const pass = async (milliseconds: number) => {
    timers.advance(milliseconds);
    await settle();
  };
  return { queue, begun, faults, retries: () => retries, finish, pass, stop, ended };
}

/** Work begins in the next turn of the event loop; everything else here runs on promises alone. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}

describe('WorkQueue', () => {
  it('works on as many keys at once as there are workers, each key once', async () => {
    const { queue, begun, finish, stop, ended } = setUp();
    for (const key of ['a', 'b', 'c', 'c']) queue.add(key);
    await settle();
    assert.deepEqual(begun, ['a', 'b']);
    await finish('a', 'done');
    assert.deepEqual(begun, ['a', 'b', 'c']);
    // The key was added while it was waiting, so it runs only once.
    await finish('b', 'done');
    await finish('c', 'done');
    assert.deepEqual(begun, ['a', 'b', 'c']);
    stop.abort();
    await ended;
  });

  it('never works twice on a key at one time', async (test) => {
    const { queue, begun, finish, stop, ended } = setUp();
    queue.add('a');
    await settle();
    const takeAgain = test.mock.method(PartyQueue.prototype, 'take', () => ({ party: '', item: 'a' }));
    assert.throws(() => queue.add('b'), InvariantError);
    takeAgain.mock.restore();
    assert.deepEqual(begun, ['a']);
    stop.abort();
    await finish('a', 'done');
    await ended;
  });

  it('works again on a key that was added during its work', async () => {
    const { queue, begun, finish } = setUp();
    queue.add('a');
    await settle();
    queue.add('a');
    queue.add('a');
    await settle();
    assert.deepEqual(begun, ['a']);
    await finish('a', 'done');
    assert.deepEqual(begun, ['a', 'a']);
    await finish('a', 'done');
    assert.deepEqual(begun, ['a', 'a']);
  });

  it('doubles the pause up to the longest, and starts over after success', async () => {
    const { queue, begun, faults, finish, pass } = setUp();
    queue.add('a');
    await settle();
    const pauses = [100, 200, 300, 300];
    for (const [i, pause] of pauses.entries()) {
      await finish('a', i % 2 === 0 ? 'later' : new Error('no'));
      await pass(pause - 1);
      assert.equal(begun.length, i + 1);
      await pass(1);
      assert.equal(begun.length, i + 2);
    }
    assert.deepEqual(faults, ['a: no'], 'told once');
    await finish('a', 50);
    await pass(50);
    await finish('a', 'later');
    await pass(100);
    assert.equal(begun.length, pauses.length + 3);
  });

  it('counts what is tried again, but not what is due at a time that was asked for', async () => {
    const { queue, finish, pass, retries, stop, ended } = setUp();
    for (const [outcome, expected] of [
      [1000, 0],
      ['later', 1],
      [new Error('no'), 2],
      ['done', 2],
    ] as const) {
      queue.add('a');
      await settle();
      await finish('a', outcome);
      assert.equal(retries(), expected, String(outcome));
    }
    await pass(1000);
    stop.abort();
    await finish('a', 'done');
    await ended;
  });

  it('reports a fault again when it is another one, or when the work succeeded meanwhile', async () => {
    const { queue, faults, finish, pass } = setUp();
    const outcomes = [
      new Error('no'),
      new Error('no'),
      new Error('never'),
      'later',
      new Error('never'),
      'done',
    ] as const;
    for (const round of [1, 2]) {
      queue.add('a');
      await settle();
      for (const outcome of outcomes) {
        await finish('a', outcome);
        await pass(300);
      }
      assert.equal(faults.length, round * 2);
    }
    assert.deepEqual(faults, ['a: no', 'a: never', 'a: no', 'a: never']);
  });

  it('cancels a postponement when the key is added earlier', async () => {
    const { queue, begun, finish, pass } = setUp();
    queue.add('a');
    await settle();
    await finish('a', 1000);
    queue.add('a');
    await settle();
    await finish('a', 'done');
    await pass(2000);
    assert.equal(begun.length, 2);
  });

  it('ends after the current work, and starts nothing new', async () => {
    const { queue, begun, finish, pass, stop, ended } = setUp(1);
    queue.add('a');
    queue.add('b');
    await settle();
    stop.abort();
    let isEnded = false;
    void ended.then(() => {
      isEnded = true;
    });
    await settle();
    assert.equal(isEnded, false);
    await finish('a', 'later');
    await ended;
    await pass(1000);
    assert.deepEqual(begun, ['a']);
  });

  it('lets everything else run while work asks for itself again at once', async () => {
    let runs = 0;
    const stop = new AbortController();
    const queue: WorkQueue = new WorkQueue({
      work: (key) => {
        runs += 1;
        // Ends a test that would hang.
        if (runs < 100_000) queue.add(key);
        return Promise.resolve('done');
      },
      onFault: () => undefined,
      workers: 1,
      firstPauseMs: 1,
      longestPauseMs: 1,
      timers: new ManualTimers(),
    });
    const ended = queue.run(stop.signal);
    queue.add('a');
    await settle();
    assert.ok(runs < 100, `${runs} runs in a few turns`);
    stop.abort();
    await ended;
  });

  it('reports few faults at a time, and how many it withheld', async () => {
    const timers = new ManualTimers();
    const reported: string[] = [];
    const queue = new WorkQueue({
      work: (key) => Promise.reject(new Error(`${key} fails, ${timers.elapsed()}`)),
      onFault: (key, _error, suppressed) => reported.push(`${key} +${suppressed}`),
      workers: 50,
      firstPauseMs: 1000,
      longestPauseMs: 60_000,
      timers,
    });
    const stop = new AbortController();
    const ended = queue.run(stop.signal);
    for (let i = 0; i < 1000; i++) queue.add(`k${i}`);
    const turns = async (count: number) => {
      for (let i = 0; i < count; i++) await settle();
    };
    await turns(200);
    assert.equal(reported.length, 20);
    for (let second = 0; second < 60; second++) {
      timers.advance(1000);
      await turns(200);
    }
    assert.ok(reported.length > 20 && reported.length <= 30, `${reported.length} lines in a minute`);
    const suppressed = reported.reduce((sum, line) => sum + Number(line.split('+')[1]), 0);
    assert.ok(suppressed >= 980, `${suppressed} faults are only counted`);
    stop.abort();
    await ended;
  });

  it('lets namespaces take turns, however many keys one of them has', async () => {
    const { queue, begun, finish } = setUp(2);
    for (let i = 0; i < 1000; i++) queue.add(`crowd/${i}`);
    queue.add('lone/a');
    queue.add('lone/b');
    await settle();
    assert.ok(begun.includes('lone/a'), `the first keys: ${begun.join(' ')}`);
    await finish('lone/a', 'done');
    assert.ok(begun.includes('lone/b'), `the first keys: ${begun.join(' ')}`);
  });

  it('has a worker for a namespace while keys of another one take for ever', async () => {
    const { queue, begun } = setUp(2);
    for (let i = 0; i < 10; i++) queue.add(`stuck/${i}`);
    await settle();
    assert.deepEqual(begun, ['stuck/0', 'stuck/1']);
    queue.add('lone/a');
    queue.add('lone/b');
    await settle();
    assert.deepEqual(begun, ['stuck/0', 'stuck/1', 'lone/a']);
  });

  it('works for others while work rests, and on no more keys of the namespace whose work does', async () => {
    const begun: string[] = [];
    const queue = new WorkQueue({
      work: async (key, _signal, rest) => {
        begun.push(key);
        // The namespaces whose work waits forever are as many as the workers.
        if (key.startsWith('slow')) await rest(() => rest(() => new Promise(() => undefined)));
        return 'done';
      },
      onFault: () => undefined,
      workers: 2,
      firstPauseMs: 100,
      longestPauseMs: 300,
      timers: new ManualTimers(),
    });
    void queue.run(new AbortController().signal);
    for (let i = 0; i < 10; i++) for (const name of ['a', 'b', 'c']) queue.add(`slow${i}/${name}`);
    for (let turn = 0; turn < 10; turn++) await settle();
    assert.equal(begun.filter((key) => key.startsWith('slow0/')).length, 2, begun.join(' '));
    assert.equal(begun.length, 20);
    queue.add('lone/a');
    queue.add('lone/b');
    await settle();
    assert.deepEqual(begun.slice(20), ['lone/a', 'lone/b']);
  });

  it('passes over a party that has to wait, and looks again when its pause is over', async () => {
    const begun: string[] = [];
    const measured: string[] = [];
    let pauseMs = 20;
    const stop = new AbortController();
    const queue = new WorkQueue({
      work: async (key) => {
        begun.push(key);
        return 'done';
      },
      onFault: () => undefined,
      workers: 2,
      firstPauseMs: 100,
      longestPauseMs: 300,
      timers: new ManualTimers(),
      pace: {
        begin: (party) => () => void measured.push(party),
        pauseMs: (party) => (party === 'large' ? pauseMs : 0),
      },
    });
    queue.add('large/a');
    queue.add('small/b');
    const ended = queue.run(stop.signal);
    await setImmediate();
    await setImmediate();
    assert.deepEqual(begun, ['small/b']);
    assert.deepEqual(measured, ['small']);
    pauseMs = 0;
    while (begun.length < 2) await setImmediate();
    assert.deepEqual(begun, ['small/b', 'large/a']);
    stop.abort();
    await ended;
  });
});
