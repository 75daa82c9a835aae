import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shareOfWorker } from './worker-share.js';

it('divides the limits of the server among its workers', () => {
  const limits = { maxRequestsInflight: 400, maxMutatingRequestsInflight: 2, maxUnauthenticatedRequestsInflight: 0 };
  const shares = [1, 2, 3].map((index) => shareOfWorker(limits, index, 3));
  assert.deepEqual(
    shares.map((share) => share.maxRequestsInflight),
    [134, 133, 133],
  );
  assert.deepEqual(
    shares.map((share) => share.maxMutatingRequestsInflight),
    [1, 1, 1],
  );
  assert.ok(shares.every((share) => share.maxUnauthenticatedRequestsInflight === 0));
});
