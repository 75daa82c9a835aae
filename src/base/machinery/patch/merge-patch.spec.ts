import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyMergePatch, PatchError } from './index.js';

test('the examples of the RFC', () => {
  const cases: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'foo' }, null, null],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [document, patch, expected] of cases) assert.deepEqual(applyMergePatch(document, patch), expected);
});

test('the document is not changed, unchanged parts are shared', () => {
  const document = Object.freeze({ data: Object.freeze({ a: '1' }), spec: Object.freeze({}) });
  const result = applyMergePatch(document, { data: { b: '2' } }) as typeof document;
  assert.deepEqual(result.data, { a: '1', b: '2' });
  assert.equal(result.spec, document.spec);
});

test('__proto__ is only a key', () => {
  const patch = JSON.parse('{"__proto__": {"polluted": true}, "data": {"__proto__": "x"}}');
  const result = applyMergePatch({ data: {} }, patch) as { polluted?: boolean; data: object };
  assert.equal(result.polluted, undefined);
  assert.deepEqual(Object.keys(result.data), ['__proto__']);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('a patch that is nested too deeply is refused', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`);
  assert.throws(() => applyMergePatch({}, deep), PatchError);
});
