import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inline, int32, jsonFields, kind, list, mergedBy, optional, required, string, struct } from './index.js';

test('the JSON view of a struct expands inline structs in place', () => {
  const inner = struct('test.v1.Inner', { a: optional(1, string), b: optional(2, string) });
  const outer = struct('test.v1.Outer', {
    first: required(1, int32),
    inner: inline(2, inner),
    last: optional(3, string),
  });
  assert.deepEqual([...jsonFields(outer).keys()], ['first', 'a', 'b', 'last']);
  assert.deepEqual(
    outer.fields.map((field) => field.name),
    ['first', 'inner', 'last'],
  );
  assert.equal(jsonFields(outer), jsonFields(outer));
});

test('options of keyed lists', () => {
  const outer = struct('test.v1.Keyed', { ports: optional(1, list(string), mergedBy('port', 'protocol')) });
  const field = jsonFields(outer).get('ports');
  assert.equal(field?.listType, 'map');
  assert.deepEqual(field?.listKeys, ['port', 'protocol']);
  assert.deepEqual(field?.patch, { strategy: 'merge', key: 'port' });
});

test('names of kinds', () => {
  assert.equal(kind({ group: '', version: 'v1', kind: 'Pod' }, {}).name, 'core.v1.Pod');
  assert.equal(kind({ group: 'rbac.authorization', version: 'v1', kind: 'Role' }, {}).name, 'rbac.v1.Role');
});
