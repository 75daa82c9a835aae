import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { humanDuration } from './default-columns.js';

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
