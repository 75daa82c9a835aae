import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { it } from 'node:test';
import type { FastifyReply } from 'fastify';
import { readingTime, UnreadAnswers } from './unread-answers.js';

class FakeResponse extends EventEmitter {
  constructor(readonly socket: object) {
    super();
  }

  destroy(): void {
    this.emit('cut');
  }
}

const response = (socket: object = {}) => new FakeResponse(socket) as unknown as FakeResponse & FastifyReply['raw'];

it('answers are cut when their time is over, longer ones later', async () => {
  let now = 0;
  const unread = new UnreadAnswers({ patienceMs: 10, connectionBytes: 1000, totalBytes: 10_000_000 }, () => now);
  const [short, long, taken] = [response(), response(), response()];
  for (const one of [long, taken]) one.once('cut', () => assert.fail('cut too early'));
  unread.add(short, 0);
  unread.add(long, 1_000_000);
  unread.add(taken, 0);
  unread.remove(taken);
  assert.ok(readingTime(10, 1_000_000) > 10_000);
  now = 11;
  // The timer of {@link UnreadAnswers} does not keep the process alive, so the test needs its own.
  const alive = setInterval(() => undefined, 1000);
  await once(short, 'cut');
  unread.stop();
  clearInterval(alive);
});

it('a connection is full while it leaves too much unread', () => {
  const unread = new UnreadAnswers({ patienceMs: 60_000, connectionBytes: 1000, totalBytes: 10_000_000 });
  const connection = {};
  const [first, second, other] = [response(connection), response(connection), response()];
  unread.add(first, 800);
  assert.equal(unread.isFull(second), false);
  unread.add(second, 800);
  // A response counts once, however often its bytes are added.
  unread.add(second, 800);
  assert.equal(unread.isFull(first), true);
  assert.equal(unread.isFull(other), false);
  unread.remove(first);
  unread.remove(first);
  assert.equal(unread.isFull(second), false);
  unread.remove(second);
  unread.stop();
});

it('the connection with the most unread bytes loses its answers when the total is too large', () => {
  const unread = new UnreadAnswers({ patienceMs: 60_000, connectionBytes: 1000, totalBytes: 1000 });
  const [reader, attacker] = [{}, {}];
  const honest = response(reader);
  honest.once('cut', () => assert.fail('cut, though others leave more'));
  unread.add(honest, 300);
  const cuts: number[] = [];
  const flood = Array.from({ length: 4 }, () => response(attacker));
  for (const [i, one] of flood.entries()) {
    one.once('cut', () => cuts.push(i));
    unread.add(one, 200);
  }
  assert.deepEqual(cuts, [0, 1, 2, 3]);
  for (const one of flood) unread.remove(one);
  // Cut responses no longer count.
  unread.add(response(attacker), 700);
  unread.remove(honest);
  assert.deepEqual(cuts, [0, 1, 2, 3]);
  unread.stop();
});

it('what is handed over to a response that was closed before counts for nobody', () => {
  const unread = new UnreadAnswers({ patienceMs: 60_000, connectionBytes: 1000, totalBytes: 1000 });
  const honest = response();
  honest.once('cut', () => assert.fail('cut for what others did not read'));
  unread.add(honest, 300);
  const connection = {};
  for (let i = 0; i < 10; i++) {
    const left = response(connection);
    unread.close(left);
    left.once('cut', () => assert.fail('a closed response was kept'));
    unread.add(left, 2000);
  }
  assert.equal(unread.isFull(response(connection)), false);
  unread.stop();
});
