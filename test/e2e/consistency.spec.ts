import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runConsistencyCheck } from '../consistency/consistency-run.js';
import { findsFault } from '../consistency/seeded-faults.js';
import { testSeeds } from '../support/random.js';

// One short run; `npm run check:consistency` takes longer and breaks more, and with --prove tries every known fault.

describe('consistency while things break', () => {
  it('holds for a minute', { timeout: 240_000 }, async () => {
    const seed = testSeeds('consistency').at(-1) as number;
    const report = await runConsistencyCheck({ seed, seconds: 60, servers: 3 });
    assert.equal(report.failures(), 0, report.format());
    for (const check of ['write-once', 'watch-events', 'watch-bookmarks', 'list-content', 'read-fresh'] as const) {
      assert.ok(report.passes(check) > 20, report.format());
    }
  });

  for (const fault of ['lost-event', 'stale-list'] as const) {
    it(`is missed and told when a server has the fault ${fault}`, async () => {
      const { isFound, report } = await findsFault(fault);
      assert.ok(isFound, report.format());
    });
  }
});
