import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergedJson } from './merged-json.js';

it('merges objects and lists under equal keys, and takes the last of other values', () => {
  for (const [text, value] of [
    ['{"a":{"x":1,"y":{"p":1}},"a":{"y":{"q":2}}}', { a: { x: 1, y: { p: 1, q: 2 } } }],
    ['{"a":[{"x":1},2,3],"a":[{"y":2}]}', { a: [{ x: 1, y: 2 }] }],
    ['{"a":[1],"a":[2,3]}', { a: [2, 3] }],
    ['{"a":{"x":1},"a":null}', { a: null }],
    ['{"a":null,"a":{"x":1}}', { a: { x: 1 } }],
    ['{"a":{"x":1},"a":[1]}', { a: [1] }],
    [' { "a" : "\\"}" , "\\u0061" : [ ] , "b" : { } } ', { a: [], b: {} }],
    ['{"a":1,"b":[true,false,{"c":-1.5,"c":2}],"a":3}', { a: 3, b: [true, false, { c: 2 }] }],
    ['{"__proto__":{"x":1},"__proto__":{"y":2}}', JSON.parse('{"__proto__":{"x":1,"y":2}}')],
  ] as const) {
    assert.deepEqual(mergedJson(text), value, text);
  }
});
