import assert from 'node:assert/strict';
import { it } from 'node:test';
import { freeBuffer } from './free-buffer.js';

it('frees the memory of a large buffer, and of no other', () => {
  const own = Buffer.alloc(100_000, 'x');
  const small = Buffer.from('small');
  const whole = Buffer.alloc(200_000, 'x');
  const part = whole.subarray(0, 100_000);
  const before = process.memoryUsage().arrayBuffers;
  for (const one of [own, small, part, null, undefined]) freeBuffer(one);
  assert.ok(process.memoryUsage().arrayBuffers <= before - 100_000);
  assert.deepEqual([own.length, small.toString(), part.length, whole.at(-1)], [0, 'small', 100_000, 120]);
});
