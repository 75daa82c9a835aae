import assert from 'node:assert/strict';
import { it } from 'node:test';
import { forbiddenError, internalError, notFoundError } from './status-error.js';

it('expects refusals, which logs show without a stack, but no faults', () => {
  const pods = { group: '', resource: 'pods' };
  assert.ok(forbiddenError(pods, 'p', 'no room').isExpected);
  assert.ok(notFoundError(pods, 'p').isExpected);
  assert.ok(!internalError(new Error('broken')).isExpected);
});
