import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findsFault } from '../consistency/seeded-faults.js';

// Two of the known faults; `npm run check:consistency -- --prove` tries all.

describe('the consistency check', () => {
  for (const fault of ['lost-event', 'stale-list'] as const) {
    it(`says so when a server has the fault ${fault}`, { timeout: 240_000 }, async () => {
      const { isFound, report } = await findsFault(fault);
      assert.ok(isFound, report.format());
    });
  }
});
