import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RateLimit } from './rate-limit.js';
import { evictionRates, zoneState } from './zones.js';

const rates = { rate: 0.1, secondaryRate: 0.01, unhealthyThreshold: 0.55, largeSize: 50 };

describe('zones', () => {
  for (const [ready, notReady, state] of [
    [0, 0, 'normal'],
    [5, 0, 'normal'],
    [0, 1, 'full'],
    [1, 2, 'normal'],
    [1, 3, 'partial'],
    [45, 55, 'partial'],
    [46, 54, 'normal'],
  ] as const) {
    it(`with ${ready} ready nodes and ${notReady} others is ${state}`, () => {
      assert.equal(zoneState({ ready, notReady }, 0.55), state);
    });
  }

  it('lose their pods by their state and size', () => {
    const zones = new Map([
      ['sound', { ready: 9, notReady: 1 }],
      ['small', { ready: 10, notReady: 30 }],
      ['large', { ready: 11, notReady: 40 }],
      ['gone', { ready: 0, notReady: 3 }],
    ]);
    assert.deepEqual(Object.fromEntries(evictionRates(zones, rates)), { sound: 0.1, small: 0, large: 0.01, gone: 0.1 });
  });

  it('lose nothing when all are gone', () => {
    const gone = { ready: 0, notReady: 3 };
    assert.deepEqual(
      [
        ...evictionRates(
          new Map([
            ['a', gone],
            ['b', gone],
          ]),
          rates,
        ).values(),
      ],
      [0, 0],
    );
  });
});

describe('RateLimit', () => {
  it('lets one through at once and then so many per second', () => {
    const limit = new RateLimit(0);
    assert.deepEqual([limit.take(0, 0.1), limit.take(0, 0.1), limit.take(4000, 0.1)], [0, 10_000, 6000]);
    assert.deepEqual([limit.take(10_000, 0.1), limit.take(1e9, 0.1), limit.take(1e9, 0.1)], [0, 0, 10_000]);
  });

  it('lets nothing through at the rate 0, and keeps what was saved', () => {
    const limit = new RateLimit(0);
    assert.equal(limit.take(0, 0), undefined);
    assert.equal(limit.take(5, 1), 0);
    assert.equal(limit.take(1e6, 0), undefined);
  });
});
