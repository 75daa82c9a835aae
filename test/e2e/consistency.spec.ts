import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runConsistencyCheck } from '../consistency/consistency-run.js';
import { testSeeds } from '../support/random.js';

// One short run; `npm run check:consistency` takes longer and breaks more.

describe('consistency while things break', () => {
  it('holds for a minute', { timeout: 240_000 }, async () => {
    const seed = testSeeds('consistency').at(-1) as number;
    const report = await runConsistencyCheck({ seed, seconds: 60, servers: 4 });
    assert.equal(report.failures(), 0, report.format());
    for (const check of ['write-once', 'watch-events', 'watch-bookmarks', 'list-content', 'read-fresh'] as const) {
      assert.ok(report.passes(check) > 20, report.format());
    }
  });
});
