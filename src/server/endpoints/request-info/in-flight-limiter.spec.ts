import assert from 'node:assert/strict';
import { it } from 'node:test';
import { InFlightLimiter, patienceMs } from './in-flight-limiter.js';

const metrics = { requestRejected: () => undefined, setInFlight: () => undefined };
const never = () => assert.fail('lost its seat');

it('a request whose body does not come loses its seat when another needs it, the one that waits longest first', () => {
  let now = 0;
  const limiter = new InFlightLimiter({ readOnly: 1, mutating: 3, unauthenticated: 0 }, metrics, () => now);
  const enter = () => limiter.enter('mutating', false);
  const lost: string[] = [];
  const [first, second, third] = [enter(), enter(), enter()];
  limiter.enter('mutating', true).waitForBody(never);
  first.waitForBody(() => lost.push('first'));
  second.waitForBody(() => lost.push('second'));
  third.waitForBody(never);
  third.stopWaiting();
  // A body may take a while.
  now = patienceMs - 1;
  assert.throws(enter, { code: 429 });
  now = patienceMs;
  enter();
  assert.deepEqual(lost, ['first']);
  enter();
  assert.deepEqual(lost, ['first', 'second']);
  // No request with a seat is waiting for its body any longer.
  assert.throws(enter, { code: 429 });
  // Lost seats are not released a second time.
  first.leave();
  second.leave();
  assert.throws(enter, { code: 429 });
  third.leave();
  enter();
  assert.throws(enter, { code: 429 });
});

it('requests of one kind take no seats of another', () => {
  let now = 0;
  const limiter = new InFlightLimiter({ readOnly: 1, mutating: 1, unauthenticated: 0 }, metrics, () => now);
  limiter.enter('mutating', false).waitForBody(never);
  limiter.enter('readOnly', false);
  now = patienceMs;
  assert.throws(() => limiter.enter('readOnly', false), { code: 429 });
});

it('a request whose client does not read lends its seat, and gets the next free one before newcomers', async () => {
  let now = 0;
  const limiter = new InFlightLimiter({ readOnly: 2, mutating: 1, unauthenticated: 0 }, metrics, () => now);
  const enter = () => limiter.enter('readOnly', false);
  const [slow, slower] = [enter(), enter()];
  slow.waitForReader();
  slower.waitForReader();
  assert.throws(enter, { code: 429 });
  // Nobody needed the seat.
  slow.waitForReader();
  assert.equal(slow.resume(), undefined);
  slow.waitForReader();
  now = patienceMs;
  const [third, fourth] = [enter(), enter()];
  assert.throws(enter, { code: 429 });
  const back: string[] = [];
  const both = [slower.resume()?.then(() => back.push('slower')), slow.resume()?.then(() => back.push('slow'))];
  third.leave();
  await both[0];
  assert.deepEqual(back, ['slower']);
  assert.throws(enter, { code: 429 });
  fourth.leave();
  await both[1];
  assert.throws(enter, { code: 429 });
  slow.leave();
  enter();
  assert.throws(enter, { code: 429 });
  slower.leave();
  enter();
  assert.throws(enter, { code: 429 });
});

it('a request that leaves while it wants its seat back leaves none behind', async () => {
  let now = 0;
  const limiter = new InFlightLimiter({ readOnly: 1, mutating: 1, unauthenticated: 0 }, metrics, () => now);
  const slow = limiter.enter('readOnly', false);
  slow.waitForReader();
  now = patienceMs;
  const second = limiter.enter('readOnly', false);
  const back = slow.resume();
  slow.leave();
  await back;
  second.leave();
  limiter.enter('readOnly', false).leave();
  // The third request's seat is free again before its client reads.
  const third = limiter.enter('readOnly', false);
  third.waitForReader();
  now += patienceMs;
  limiter.enter('readOnly', false).leave();
  assert.equal(third.resume(), undefined);
  assert.throws(() => limiter.enter('readOnly', false), { code: 429 });
  third.leave();
  limiter.enter('readOnly', false);
});

it('a request that wants its seat back gets that of another one whose client does not read', async () => {
  let now = 0;
  const limiter = new InFlightLimiter({ readOnly: 1, mutating: 1, unauthenticated: 0 }, metrics, () => now);
  const enter = () => limiter.enter('readOnly', false);
  const first = enter();
  first.waitForReader();
  now += patienceMs;
  const second = enter();
  const back = first.resume();
  second.waitForReader();
  now += patienceMs;
  // The request that wants its seat back gets the freed seat, not the newcomer.
  assert.throws(enter, { code: 429 });
  await back;
  const again = second.resume();
  first.leave();
  await again;
  assert.throws(enter, { code: 429 });
  second.leave();
  enter();
});
