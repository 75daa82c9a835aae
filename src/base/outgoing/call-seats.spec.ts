import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallSeats } from './call-seats.js';

const never = new AbortController().signal;

/** A call that the test finishes by hand. */
function call() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let isRunning = false;
  const run = () => {
    isRunning = true;
    return promise;
  };
  return { run, end: resolve, fail: reject, isRunning: () => isRunning };
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('CallSeats', () => {
  it('runs so many calls at a time, lets so many wait in order, and turns the rest away', async () => {
    const seats = new CallSeats({ calls: 2, waiting: 2 });
    const calls = Array.from({ length: 4 }, call);
    const taken = calls.map(({ run }) => seats.take(never, run));
    assert.deepEqual(
      calls.map(({ isRunning }) => isRunning()),
      [true, true, false, false],
    );
    assert.equal(seats.take(never, call().run), undefined);
    calls[0]?.end('a');
    assert.equal(await taken[0], 'a');
    await turns();
    assert.equal(calls[2]?.isRunning(), true);
    assert.equal(calls[3]?.isRunning(), false);
    calls[1]?.fail(new Error('b'));
    await assert.rejects(taken[1] as Promise<string>, /b/);
    await turns();
    assert.equal(calls[3]?.isRunning(), true);
    for (const one of calls) one.end('');
    await Promise.all([taken[2], taken[3]]);
    const late = [call(), call(), call()];
    for (const { run } of late) void seats.take(never, run);
    assert.deepEqual(
      late.map(({ isRunning }) => isRunning()),
      [true, true, false],
    );
  });

  it('gives up the place of a call that no longer waits', async () => {
    const seats = new CallSeats({ calls: 1, waiting: 1 });
    const first = call();
    const running = seats.take(never, first.run);
    const left = new AbortController();
    const waiting = seats.take(left.signal, call().run);
    left.abort(new Error('left'));
    await assert.rejects(waiting as Promise<string>, /left/);
    const next = call();
    const taken = seats.take(never, next.run);
    assert.notEqual(taken, undefined);
    await assert.rejects(
      (async () => {
        first.end('');
        await running;
        await turns();
        assert.equal(next.isRunning(), true);
        next.fail(new Error('end'));
        await taken;
      })(),
      /end/,
    );
    assert.notEqual(seats.take(AbortSignal.abort(new Error('gone')), call().run), undefined);
  });
});
