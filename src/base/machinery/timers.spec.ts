import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemTimers } from './timers.js';

describe('systemTimers', () => {
  for (const days of [20, 30, 400]) {
    it(`wait ${days} days, until the abort`, async () => {
      const stop = new AbortController();
      let isOver = false;
      const waited = systemTimers.wait(days * 86_400_000, stop.signal).then(() => {
        isOver = true;
      });
      await systemTimers.wait(20, new AbortController().signal);
      assert.equal(isOver, false);
      stop.abort();
      await waited;
    });
  }
});
