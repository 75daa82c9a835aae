import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { humanDuration, likeDurations } from './default-columns.js';

describe('humanDuration', () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;
  const cases: [number, string][] = [
    [-5 * second, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 5 * second, '9m5s'],
    [10 * minute + 5 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 12 * minute, '7h12m'],
    [26 * hour, '26h'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day, '8d'],
    [729 * day, '729d'],
    [3 * 365 * day + 35 * day, '3y35d'],
    [9 * 365 * day, '9y'],
  ];
  for (const [ms, text] of cases) it(text, () => assert.equal(humanDuration(ms), text));
});

describe('likeDurations', () => {
  it('gives durations that are shown alike, the given one among them, at every limit', () => {
    const second = 1000;
    const day = 86_400 * second;
    const limits = [0, 60, 120, 600, 3_600, 10_800, 28_800, 172_800, 691_200].map((seconds) => seconds * second);
    for (const limit of [...limits, 729 * day, 730 * day, 2919 * day, 2920 * day, 3000 * day, -2 * second]) {
      for (const offset of [
        -day,
        -3_600_001,
        -60_001,
        -second,
        -1,
        0,
        1,
        999,
        second,
        59_999,
        61_234,
        3_599_999,
        day,
      ]) {
        const duration = limit + offset;
        const { from, until } = likeDurations(duration);
        assert.ok(from <= duration && duration < until);
        for (const like of [from, (from + until) / 2, until - 1]) {
          assert.equal(humanDuration(like), humanDuration(duration), String(duration));
        }
      }
    }
  });
});
