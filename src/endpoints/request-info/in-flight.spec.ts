import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bodyPatienceMs, InFlightLimiter } from './in-flight.js';

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
  // A body may take its time.
  now = bodyPatienceMs - 1;
  assert.throws(enter, { code: 429 });
  now = bodyPatienceMs;
  enter();
  assert.deepEqual(lost, ['first']);
  enter();
  assert.deepEqual(lost, ['first', 'second']);
  // No request waits for its body any longer.
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
  now = bodyPatienceMs;
  assert.throws(() => limiter.enter('readOnly', false), { code: 429 });
});
