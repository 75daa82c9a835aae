import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  difference,
  equalSets,
  type FieldPattern,
  type FieldSet,
  formatPaths,
  intersection,
  leafDifference,
  matchingFields,
  parseFieldSet,
  recursiveDifference,
  union,
} from './index.js';

const set = (text: string): FieldSet => parseFieldSet(JSON.parse(text)) ?? assert.fail(`no set: ${text}`);
const a = set('{"f:data":{".":{},"f:a":{},"f:b":{}},"f:x":{}}');
const b = set('{"f:data":{"f:b":{},"f:c":{}},"f:y":{"f:z":{}}}');

test('union, intersection and difference of members', () => {
  assert.deepEqual(union(a, b), set('{"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{}},"f:x":{},"f:y":{"f:z":{}}}'));
  assert.deepEqual(intersection(a, b), set('{"f:data":{"f:b":{}}}'));
  assert.deepEqual(difference(a, b), set('{"f:data":{".":{},"f:a":{}},"f:x":{}}'));
  assert.deepEqual(difference(b, a), set('{"f:data":{"f:c":{}},"f:y":{"f:z":{}}}'));
});

test('the part of a set that a pattern describes', () => {
  const fields = set(
    '{"f:metadata":{"f:labels":{}},"f:spec":{"f:list":{".":{},"k:{\\"n\\":\\"a\\"}":{".":{},"f:image":{},"f:size":{"f:cpu":{}}},"k:{\\"n\\":\\"b\\"}":{"f:image":{}}},"f:x":{}}}',
  );
  const pattern: FieldPattern = { 'f:spec': { 'f:list': { '*': { 'f:size': 'all' } } } };
  assert.deepEqual(
    matchingFields(fields, pattern),
    set('{"f:spec":{"f:list":{".":{},"k:{\\"n\\":\\"a\\"}":{".":{},"f:size":{"f:cpu":{}}}}}}'),
  );
  assert.deepEqual(matchingFields(fields, {}), {});
});

test('a node can be a member without its children, and they without it', () => {
  const whole = set('{"f:data":{}}');
  assert.deepEqual(difference(a, whole), set('{"f:data":{"f:a":{},"f:b":{}},"f:x":{}}'));
  assert.deepEqual(union(whole, b), set('{"f:data":{".":{},"f:b":{},"f:c":{}},"f:y":{"f:z":{}}}'));
  assert.deepEqual(union(b, whole), union(whole, b));
  assert.deepEqual(intersection(a, whole), whole);
  assert.deepEqual(difference(set('{"f:data":{".":{},"f:a":{}}}'), set('{"f:data":{"f:a":{}}}')), whole);
  assert.deepEqual(difference(whole, set('{"f:data":{"f:a":{}}}')), whole);
});

test('differences that reach below members', () => {
  assert.deepEqual(recursiveDifference(a, set('{"f:data":{}}')), set('{"f:x":{}}'));
  assert.deepEqual(recursiveDifference(a, set('{"f:data":{".":{},"f:none":{}}}')), set('{"f:x":{}}'));
  assert.deepEqual(leafDifference(a, set('{"f:data":{}}')), set('{"f:x":{}}'));
  assert.deepEqual(leafDifference(a, set('{"f:data":{".":{},"f:b":{}}}')), set('{"f:data":{"f:a":{}},"f:x":{}}'));
});

test('results share unchanged parts', () => {
  assert.equal(union(a, intersection(a, b)), a);
  assert.equal(difference(a, set('{"f:none":{"f:a":{}}}')), a);
  assert.equal(union(a, b)['f:x'], a['f:x']);
  const all = union(a, b);
  assert.deepEqual(difference(all, all), {});
});

test('elements are sorted by kind, name and value', () => {
  const elements = ['v:"b"', 'k:{"p":443}', 'f:b', 'k:{"p":80}', 'v:10', 'v:9', '.', 'f:a', 'k:{"n":"x"}', 'v:true'];
  const sorted = ['.', 'f:a', 'f:b', 'k:{"n":"x"}', 'k:{"p":80}', 'k:{"p":443}', 'v:9', 'v:10', 'v:"b"', 'v:true'];
  const node = Object.fromEntries(elements.map((element) => [element, {}]));
  assert.deepEqual(Object.keys(parseFieldSet({ 'f:l': node })?.['f:l'] ?? {}), sorted);
});

test('sets written by clients get the canonical spelling', () => {
  const written = set(
    '{"f:l":{"k:{\\"b\\": 1, \\"a\\": \\"x\\"}":{".":{}},"k:{\\"a\\":\\"x\\",\\"b\\":1}":{"f:v":{}}}}',
  );
  assert.deepEqual(written, { 'f:l': { 'k:{"a":"x","b":1}': { '.': {}, 'f:v': {} } } });
});

test('values that are not sets are refused', () => {
  const deep = `${'{"f:a":'.repeat(10_000)}{}${'}'.repeat(10_000)}`;
  for (const text of [
    '{"data":{}}',
    '{"f:a":1}',
    '[]',
    '{"k:{}":{}}',
    '{"k:x":{}}',
    '{"i:x":{}}',
    '{"x:a":{}}',
    deep,
  ]) {
    assert.equal(parseFieldSet(JSON.parse(text)), undefined, text.slice(0, 40));
  }
});

test('equality ignores order', () => {
  assert.ok(equalSets(a, { 'f:x': {}, 'f:data': { 'f:b': {}, '.': {}, 'f:a': {} } }));
  assert.ok(!equalSets(a, b));
  assert.ok(!equalSets(set('{"f:a":{}}'), set('{"f:a":{".":{},"f:b":{}}}')));
});

test('paths as messages show them', () => {
  const shown = formatPaths(
    set(
      '{"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{}}},"f:x":{}},"f:tags":{"v:\\"y\\"":{}}}',
    ),
  );
  const port = '.spec.ports[port=80,protocol="TCP"]';
  assert.deepEqual(shown, ['.spec.x', port, `${port}.name`, '.tags[="y"]']);
});
