import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newBatchId } from './batch-id.js';

describe('newBatchId', () => {
  it('gives numbers that differ, also where random bytes are taken anew', () => {
    const ids = new Set(Array.from({ length: 5000 }, newBatchId));
    assert.equal(ids.size, 5000);
  });

  it('gives numbers that PostgreSQL stores as a positive bigint', () => {
    for (let i = 0; i < 5000; i++) {
      const id = BigInt(newBatchId());
      assert.ok(id >= 0n && id < 2n ** 63n, String(id));
    }
  });

  it('uses the whole range', () => {
    const ids = Array.from({ length: 5000 }, () => BigInt(newBatchId()));
    assert.ok(ids.some((id) => id >= 2n ** 62n));
    assert.ok(ids.some((id) => id < 2n ** 62n));
  });
});
