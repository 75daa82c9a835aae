import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDuplicateKeys } from './duplicate-keys.js';

test('stops at a hundred, so that the paths of a hostile text stay few', () => {
  const depth = 50_000;
  const nested = `${'{"b":1,"b":1,"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const found = findDuplicateKeys(nested);
  assert.equal(found.length, 100);
  assert.equal(found[1], 'a.b');
  const repeated = `${'{"a":'.repeat(depth)}{${'"b":1,'.repeat(depth)}"b":1}${'}'.repeat(depth)}`;
  assert.deepEqual(findDuplicateKeys(repeated), []);
  const flat = `{${Array.from({ length: depth }, (_, i) => `"${i}":1,"${i}":1`).join()}}`;
  assert.equal(findDuplicateKeys(flat).length, 100);
});

test('finds duplicate keys of an object', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['{}', []],
    ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"s":{"c":[{"n":1},{"n":1,"x":[1,2],"n":2}]}}', ['s.c[1].n']],
    ['[[{"a":1,"a":1}]]', ['[0][0].a']],
    ['{"a":"\\"b\\":1","b":"{\\"b\\":1,\\"b\\":2}"}', []],
    ['{"a\\\\":1,"a\\\\":2}', ['a\\']],
    ['{"\\u0061":1,"a":2}', ['a']],
    ['{"a":{"x":1,"x":1},"a":{"y":1,"y":1}}', ['a.x', 'a', 'a.y']],
    ['{ "a" : [ ] , "b" : { } , "a" : null }', ['a']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['"text"', []],
    ['1', []],
  ];
  for (const [text, expected] of cases) {
    JSON.parse(text);
    assert.deepEqual(findDuplicateKeys(text), expected, text);
  }
});
