import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byShutdownGroup, twoGroups } from './shutdown-groups.js';

describe('groups of a shutdown', () => {
  const cases = [
    [
      'in two groups',
      twoGroups(30_000, 10_000),
      [
        [20_000, [-5, 0, 1000, 1_999_999_999]],
        [10_000, [2_000_000_000, 2_000_001_000]],
      ],
    ],
    [
      'by priority, whatever the order of the settings',
      [
        { priority: 1000, graceMs: 2 },
        { priority: 100, graceMs: 1 },
        { priority: 10_000, graceMs: 3 },
        { priority: 2_000_000_001, graceMs: 4 },
      ],
      [
        [1, [-5, 0]],
        [2, [1000]],
        [3, [1_999_999_999, 2_000_000_000]],
        [4, [2_000_001_000]],
      ],
    ],
    [
      'without the groups that have no pods',
      [{ priority: 5, graceMs: 1 }],
      [[1, [-5, 0, 1000, 1_999_999_999, 2_000_000_000, 2_000_001_000]]],
    ],
  ] as const;
  for (const [name, groups, expected] of cases) {
    it(`have pods ${name}`, () => {
      const pods = [2_000_001_000, 1000, 0, -5, 1_999_999_999, 2_000_000_000];
      const found = byShutdownGroup(pods, groups, (priority) => priority);
      assert.deepEqual(
        found.map(([{ graceMs }, own]) => [graceMs, own.toSorted((one, other) => one - other)]),
        expected,
      );
    });
  }
});
