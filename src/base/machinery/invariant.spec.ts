import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invariant } from './invariant.js';
import { InvariantError } from './invariant-error.js';

describe('invariants', () => {
  it('pass while they hold', () => invariant(true, 'versions only rise'));

  it('name the promise and the values that contradict it', () => {
    assert.throws(
      () => invariant(false, 'versions only rise', 4n, 5n),
      (error: unknown) =>
        error instanceof InvariantError && error.message === 'broken invariant: versions only rise (4, 5)',
    );
    assert.throws(() => invariant(false, 'a key waits once'), { message: 'broken invariant: a key waits once' });
  });
});
