import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../base/machinery/status-error.js';
import { FailedAttempts } from './failed-attempts.js';

describe('FailedAttempts', () => {
  const clock = { now: 0 };
  const attempts = (perSecond = 2) => new FailedAttempts({ perSecond, elapsed: () => clock.now });
  const isRefused = (limits: FailedAttempts, address: string) => {
    try {
      limits.check(address);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof StatusError && error.reason === 'TooManyRequests');
      return error.details?.retryAfterSeconds;
    }
  };

  it('makes an address wait that has failed ten seconds’ worth of times, and no other', () => {
    const limits = attempts();
    for (let index = 0; index < 20; index++) {
      assert.equal(isRefused(limits, '192.0.2.1'), undefined, `${index}`);
      limits.failed('192.0.2.1');
    }
    assert.equal(isRefused(limits, '192.0.2.1'), undefined);
    limits.failed('192.0.2.1');
    assert.equal(isRefused(limits, '192.0.2.1'), 1);
    assert.equal(isRefused(limits, '192.0.2.2'), undefined);
    clock.now += 500;
    assert.equal(isRefused(limits, '192.0.2.1'), undefined);
  });

  it('never makes an address wait for longer than ten seconds', () => {
    const limits = attempts();
    for (let index = 0; index < 1000; index++) limits.failed('192.0.2.1');
    assert.equal(isRefused(limits, '192.0.2.1'), 10);
  });

  it('counts the addresses of one network of IPv6 as one', () => {
    const limits = attempts();
    for (let index = 0; index < 30; index++) limits.failed(`2001:db8:0:1::${index.toString(16)}`);
    assert.ok(isRefused(limits, '2001:db8:0:1:ffff::1'));
    assert.equal(isRefused(limits, '2001:db8:0:2::1'), undefined);
    assert.equal(isRefused(limits, '2001:db8::1'), undefined);
  });

  it('keeps few addresses, and forgets them in time', () => {
    const limits = attempts();
    for (let index = 0; index < 20_000; index++) limits.failed(`10.0.${index >> 8}.${index & 255}`);
    assert.equal(limits.size, 10_000);
    clock.now += 1_000;
    limits.failed('192.0.2.1');
    assert.equal(limits.size, 1);
  });

  it('has no limit at 0', () => {
    const limits = attempts(0);
    for (let index = 0; index < 1000; index++) limits.failed('192.0.2.1');
    assert.deepEqual([isRefused(limits, '192.0.2.1'), limits.size], [undefined, 0]);
  });
});
