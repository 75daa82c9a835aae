import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RestartBackoff } from './restart-backoff.js';

it('waits twice as long after each short life, up to half a minute, and forgets after a long one', () => {
  const backoff = new RestartBackoff();
  const waits = Array.from({ length: 9 }, () => backoff.next(1000));
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.equal(backoff.next(60_000), 250);
  assert.equal(backoff.next(59_999), 500);
});
