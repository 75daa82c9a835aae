import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextStep, secondsAt, stepOf } from './ttl-steps.js';

describe('the steps of node ttls', () => {
  const cases: readonly (readonly [from: number, nodes: number, to: number])[] = [
    [0, 0, 0],
    [0, 100, 0],
    [0, 101, 15],
    [15, 100, 15],
    [15, 90, 15],
    [15, 89, 0],
    [15, 500, 15],
    [15, 501, 30],
    [30, 450, 30],
    [30, 449, 15],
    [30, 1001, 60],
    [60, 900, 60],
    [60, 899, 30],
    [60, 2001, 300],
    [300, 1800, 300],
    [300, 1799, 60],
    [300, 1_000_000, 300],
    [0, 5000, 300],
    [300, 3, 0],
  ];
  for (const [from, nodes, to] of cases) {
    it(`${nodes} nodes after ${from} seconds have ${to}`, () => {
      assert.equal(secondsAt(nextStep(stepOf(from) as number, nodes)), to);
    });
  }

  it('knows no other seconds', () => {
    assert.equal(stepOf(7), undefined);
    assert.equal(stepOf(Number.NaN), undefined);
  });
});
