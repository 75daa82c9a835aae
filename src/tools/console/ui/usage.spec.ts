import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isInSight, linePath, roundAbove, valueAt } from './chart-shape.js';
import { limitsOf } from './usage-limits.js';
import { totalUsage, usageOf, withPoint } from './usage-points.js';

describe('usage', () => {
  it('is the sum of the containers, and none where nothing is measured', () => {
    const node = { timestamp: '1970-01-01T00:00:10Z', usage: { cpu: '250000000n', memory: '1Mi' } };
    assert.deepEqual(usageOf(node, 60_000), { time: 10_000, cpu: 0.25, memory: 2 ** 20 });
    const pod = { containers: [{ usage: { cpu: '100m', memory: '1Ki' } }, { usage: { cpu: '1', memory: '1Ki' } }] };
    assert.deepEqual(usageOf(pod, 60_000), { time: 60_000, cpu: 1.1, memory: 2048 });
    for (const bad of [undefined, {}, { usage: { cpu: 'x', memory: '1' } }, { containers: 'no' }]) {
      assert.equal(usageOf(bad, 0), undefined);
    }
    assert.equal(totalUsage([]), undefined);
    assert.deepEqual(
      totalUsage([
        { time: 1, cpu: 1, memory: 2 },
        { time: 5, cpu: 2, memory: 3 },
      ]),
      { time: 5, cpu: 3, memory: 5 },
    );
  });

  it('is kept for an hour, each measurement once', () => {
    const at = (time: number) => ({ time, cpu: 1, memory: 1 });
    const hour = 3_600_000;
    assert.deepEqual(withPoint([at(0), at(10)], at(10)), [at(0), at(10)]);
    assert.deepEqual(withPoint([at(0), at(10)], at(hour + 5)), [at(10), at(hour + 5)]);
  });

  it('is compared with what there is', () => {
    const container = (limits: object, requests = {}) => ({ resources: { limits, requests } });
    assert.deepEqual(limitsOf('nodes', { status: { allocatable: { cpu: '4', memory: '1Gi' } } }), {
      name: 'allocatable',
      cpu: 4,
      memory: 2 ** 30,
    });
    assert.deepEqual(
      limitsOf('pods', { spec: { containers: [container({ cpu: '1', memory: '1Ki' }), container({ cpu: '500m' })] } }),
      { name: 'limit', cpu: 1.5, memory: 0 },
    );
    assert.deepEqual(limitsOf('pods', { spec: { containers: [container({}, { cpu: '100m' })] } }), {
      name: 'requested',
      cpu: 0.1,
      memory: 0,
    });
    assert.equal(limitsOf('pods', {}), undefined);
  });
});

describe('charts', () => {
  it('draw lines with gaps, below a round number', () => {
    for (const [value, round] of [
      [0, 1],
      [0.03, 0.05],
      [1, 1],
      [7, 10],
      [1234, 2000],
      [Number.NaN, 1],
    ] as const) {
      assert.equal(roundAbove(value), round);
    }
    assert.equal(roundAbove(130 * 2 ** 30, true), 200 * 2 ** 30);
    assert.ok(isInSight(4, 1) && !isInSight(32, 0.004));
    const area = { from: 0, to: 100, most: 10, width: 100, height: 10, gapMs: 30 };
    const points = [[0, 0] as const, [20, 10] as const, [40, undefined] as const, [90, 20] as const];
    assert.equal(linePath(points, area), 'M0.0,10.0L20.0,0.0M90.0,0.0');
    assert.equal(linePath([[50, 5]], area), 'M50.0,5.0h0');
    assert.deepEqual(valueAt(points, 45), [20, 10]);
    assert.equal(valueAt([], 1), undefined);
  });
});
