import assert from 'node:assert/strict';
import { it } from 'node:test';
import { templateHash } from './template-hash.js';

it('hashes content, not the order of fields', () => {
  const hash = templateHash({ a: 1, b: { c: [1, 2], d: 'x' } });
  assert.equal(templateHash({ b: { d: 'x', c: [1, 2] }, a: 1 }), hash);
  assert.notEqual(templateHash({ b: { d: 'x', c: [2, 1] }, a: 1 }), hash);
  assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});

it('stays the same in later releases', () => {
  assert.equal(templateHash({ spec: { containers: [{ name: 'c', image: 'i' }] } }), '677c74d6dd');
});

it('differs after each collision', () => {
  const hashes = [0, 1, 2, 3].map((collisions) => templateHash({ a: 1 }, collisions));
  assert.equal(new Set(hashes).size, 4);
});
