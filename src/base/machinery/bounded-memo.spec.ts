import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BoundedMemo } from './bounded-memo.js';

it('computes each text once, and again after it had to forget', () => {
  const computed: string[] = [];
  const memo = new BoundedMemo(
    (text) => {
      computed.push(text);
      if (text === 'bad') throw new RangeError(text);
      return text === 'none' ? null : text.toUpperCase();
    },
    2,
    5,
  );
  for (let i = 0; i < 2; i++) {
    assert.equal(memo.get('a'), 'A');
    assert.equal(memo.get('none'), null);
  }
  assert.deepEqual(computed, ['a', 'none']);
  // Results for long strings, and errors, are not cached.
  for (let i = 0; i < 2; i++) {
    assert.equal(memo.get('longer'), 'LONGER');
    assert.throws(() => memo.get('bad'), RangeError);
  }
  assert.equal(memo.get('a'), 'A');
  assert.deepEqual(computed, ['a', 'none', 'longer', 'bad', 'longer', 'bad']);
  assert.equal(memo.get('b'), 'B');
  assert.equal(memo.get('a'), 'A');
  assert.deepEqual(computed.slice(6), ['b', 'a']);
});
