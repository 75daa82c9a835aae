import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsInOrder, findDuplicateKeys } from './duplicate-keys.js';

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

test('sorts unknown and duplicate fields as they stand in the text', () => {
  const text =
    '{"metadata":{"name":"a","name":"b","x":1},"spec":{"odd":{"in":1,"in":2},"n":1,"n":2,"c":[{"q":1},{"q":1,"i":1,"i":2}]}}';
  const duplicates = findDuplicateKeys(text);
  const unknown = ['metadata.x', 'spec.odd', 'spec.c[0].q', 'spec.c[1].q'];
  assert.deepEqual(duplicates, ['metadata.name', 'spec.odd.in', 'spec.n', 'spec.c[1].i']);
  assert.deepEqual(
    faultsInOrder(text, unknown, duplicates).map(({ path, fault }) => `${fault} ${path}`),
    [
      'duplicate metadata.name',
      'unknown metadata.x',
      'unknown spec.odd',
      'duplicate spec.n',
      'unknown spec.c[0].q',
      'unknown spec.c[1].q',
      'duplicate spec.c[1].i',
    ],
  );
});

test('sorts fields whose names have dots, and an unknown one that stands twice only as unknown', () => {
  const text = '{"labels":{"a.b":"1","a.b":"2"},"oddly":1,"odd":1,"odd":2,"oddly":2}';
  assert.deepEqual(faultsInOrder(text, ['odd'], findDuplicateKeys(text)), [
    { path: 'labels.a.b', fault: 'duplicate' },
    { path: 'odd', fault: 'unknown' },
    { path: 'oddly', fault: 'duplicate' },
  ]);
});

test('gives up the order of a hostile text, but names every fault', () => {
  const depth = 900;
  const text = `${'{"a":'.repeat(depth)}{${Array.from({ length: 5000 }, (_, i) => `"${i}.b":1`).join()}}${'}'.repeat(depth)}`;
  assert.deepEqual(faultsInOrder(text, ['z.b'], ['y.b']), [
    { path: 'y.b', fault: 'duplicate' },
    { path: 'z.b', fault: 'unknown' },
  ]);
});
