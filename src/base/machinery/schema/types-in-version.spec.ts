import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, kind, lazy, list, optional, type StructType, string, struct } from './index.js';
import { typesInVersion } from './types-in-version.js';

interface Node {
  readonly name?: string;
  readonly children?: Node[];
}
const node: StructType<Node> = struct('p.v1.Node', {
  name: optional(1, string),
  children: optional(2, list(lazy<Node>(() => node))),
}) as unknown as StructType<Node>;
const foreign = struct('other.v1.Thing', { a: optional(1, string) });
const changed = struct('p.v1.Changed', { old: optional(1, string) });
const tree = kind(
  { group: 'p', version: 'v1', kind: 'Tree' },
  { root: optional(1, node), foreign: optional(2, foreign), changed: optional(3, changed) },
);

test('the types of a version are twins, but for foreign and differing ones', () => {
  const other = struct('p.v2.Changed', { name: optional(1, string) });
  const inV2 = typesInVersion('v2', { Changed: other });
  const twin = inV2(tree);
  assert.equal(twin.name, 'p.v2.Tree');
  assert.equal(twin.kind.version, 'v2');
  assert.deepEqual(
    twin.fields.map(({ type }) => (type as StructType).name),
    ['p.v2.Node', 'other.v1.Thing', 'p.v2.Changed'],
  );
  assert.equal(twin.fields[1]?.type, foreign);
  assert.equal(twin.fields[2]?.type, other);
  assert.equal(inV2(tree), twin);
  assert.equal(tree.name, 'p.v1.Tree');
  const object = { root: { name: 'a', children: [{ name: 'b' }] }, changed: { name: 'c' } };
  assert.deepEqual(decode(twin, object), { value: object, unknownFields: [] });
});
