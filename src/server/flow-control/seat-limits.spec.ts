import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeatDemand } from './seat-demand.js';
import { allocateSeats, type LevelDemand, seatLimits, smoothDemand } from './seat-limits.js';
import { SimulatedTime } from './testing/flow-simulation.js';

const share = (shares: number, lendablePercent = 0, borrowingLimitPercent?: number, isExempt = false) => ({
  shares,
  lendablePercent,
  borrowingLimitPercent,
  isExempt,
});

describe('seat limits', () => {
  it('follow the shares', () => {
    // The shares of the default levels; the results for 600 seats are known.
    const defaults = [share(0, 0, undefined, true), share(5), share(30, 33), share(40, 25), share(10), share(40, 50)];
    const limits = seatLimits(600, [...defaults, share(100, 90), share(20, 50)]);
    assert.deepEqual(
      limits.map(({ nominal }) => nominal),
      [0, 13, 74, 98, 25, 98, 245, 49],
    );
    assert.deepEqual(
      limits.map(({ lower }) => lower),
      [0, 13, 50, 73, 25, 49, 24, 24],
    );
  });

  it('give every limited level something, and bound what it borrows', () => {
    assert.deepEqual(seatLimits(3, [share(1), share(1000)]), [
      { nominal: 1, lower: 1, upper: 4 },
      { nominal: 3, lower: 3, upper: 6 },
    ]);
    assert.deepEqual(seatLimits(100, [share(50, 20, 40), share(50, 100, 0)]), [
      { nominal: 50, lower: 40, upper: 70 },
      { nominal: 50, lower: 0, upper: 50 },
    ]);
  });
});

describe('borrowing', () => {
  const level = (nominal: number, lower: number, upper: number, highest: number, smoothed = highest): LevelDemand => ({
    nominal,
    lower,
    upper,
    isExempt: false,
    highest,
    smoothed,
  });
  const cases: readonly (readonly [string, readonly LevelDemand[], readonly number[]])[] = [
    ['nothing is wanted', [level(50, 25, 100, 0), level(50, 25, 100, 0)], [50, 50]],
    ['an idle level lends to a busy one', [level(50, 10, 100, 0), level(50, 10, 100, 200)], [10, 90]],
    ['what is used is not lent', [level(50, 10, 100, 30), level(50, 10, 100, 200)], [30, 70]],
    ['nobody borrows above the bound', [level(50, 10, 100, 0), level(50, 10, 60, 200)], [40, 60]],
    ['both want more than there is', [level(50, 10, 100, 100), level(50, 10, 100, 300)], [50, 50]],
    [
      'what is free goes to those who want it, in proportion',
      [level(60, 0, 120, 0), level(30, 0, 120, 60), level(30, 0, 120, 180)],
      [0, 30, 90],
    ],
  ];
  for (const [what, levels, expected] of cases) {
    it(what, () => {
      assert.deepEqual(allocateSeats(levels).current, expected);
    });
  }

  it('gives an exempt level what it takes, at the expense of what is lent', () => {
    const exempt = { ...level(0, 0, 0, 30), isExempt: true };
    const { current } = allocateSeats([exempt, level(50, 10, 100, 0), level(50, 10, 100, 200)]);
    assert.deepEqual(current, [30, 10, 60]);
  });

  it('raises the smoothed demand at once and lowers it over minutes', () => {
    const busy = { average: 40, deviation: 10, highest: 45 };
    assert.equal(smoothDemand(0, busy), 45);
    let smoothed = 100;
    const quiet = { average: 0, deviation: 0, highest: 0 };
    for (let period = 0; period < 30; period++) smoothed = smoothDemand(smoothed, quiet);
    assert.ok(Math.abs(smoothed - 50) < 1, String(smoothed));
  });
});

it('measures demand by how long it lasts', () => {
  const time = new SimulatedTime();
  const demand = new SeatDemand(time.elapsed);
  demand.set(10);
  time.advance(1000);
  demand.set(30);
  time.advance(1000);
  assert.deepEqual(demand.take(), { average: 20, deviation: 10, highest: 30 });
  time.advance(1000);
  assert.deepEqual(demand.take(), { average: 30, deviation: 0, highest: 30 });
});
