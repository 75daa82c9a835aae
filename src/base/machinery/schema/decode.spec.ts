import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  always,
  anyJson,
  bool,
  bytes,
  DecodeError,
  decode,
  duration,
  enumOf,
  fieldsV1,
  type Infer,
  inline,
  int32,
  int64,
  intOrString,
  kind,
  lazy,
  list,
  map,
  maxDepth,
  maxSelfNesting,
  openFieldGates,
  optional,
  pointer,
  quantity,
  rawExtension,
  required,
  type StructType,
  string,
  struct,
  structOrBool,
  structOrList,
  structOrStrings,
  time,
  zeroValue,
} from './index.js';

const handler = struct('test.v1.Handler', { exec: optional(1, list(string)), port: pointer(2, intOrString) });
const probe = struct('test.v1.Probe', { handler: inline(1, handler), period: optional(2, int32) });
const part = struct('test.v1.Part', {
  name: required(1, string),
  probe: pointer(2, probe),
  limits: optional(3, map(quantity)),
  resources: always(4, struct('test.v1.Resources', { claims: optional(1, list(string)) })),
});
interface Tree {
  children?: Tree[];
  any?: unknown;
}
const tree: StructType<Tree> = struct('test.v1.Tree', {
  children: optional(1, list(lazy<Tree>(() => tree))),
  any: pointer(2, anyJson),
});
const thing = kind(
  { group: 'test', version: 'v1', kind: 'Thing', scope: 'Namespaced' },
  {
    created: always(1, time),
    parts: required(2, list(part)),
    labels: optional(3, map(string)),
    names: optional(4, list(string)),
    replicas: pointer(5, int32),
    count: optional(6, int64),
    paused: optional(7, bool),
    data: optional(8, map(bytes)),
    timeout: pointer(9, duration),
    raw: always(10, rawExtension),
    selector: required(11, probe, { nullable: true }),
    policy: optional(12, enumOf('A', 'B')),
    tree: pointer(13, tree),
    fields: pointer(14, fieldsV1),
  },
);
type Thing = Infer<typeof thing>;

function canonical(input: unknown): Thing {
  return decode(thing, input).value;
}

function assertRefused(input: unknown, path: string, detail: RegExp | string): void {
  assert.throws(
    () => decode(thing, input),
    (error) => {
      assert.ok(error instanceof DecodeError, String(error));
      assert.equal(error.path, path);
      if (typeof detail === 'string') assert.equal(error.detail, detail);
      else assert.match(error.detail, detail);
      assert.equal(error.message, path === '' ? error.detail : `${path}: ${error.detail}`);
      return true;
    },
  );
}

test('nothing given: always-present fields have their zero form', () => {
  const zero = { created: null, parts: null, raw: null, selector: null };
  assert.deepEqual(canonical({}), zero);
  assert.deepEqual(canonical(null), zero);
  assert.deepEqual(zeroValue(thing), zero);
  const allNull = { created: null, parts: null, labels: null, replicas: null, tree: null, kind: null, selector: null };
  assert.deepEqual(decode(thing, allNull), { value: zero, unknownFields: [] });
});

test('zero values are dropped unless absent differs from zero', () => {
  const value = canonical({
    labels: {},
    names: [],
    replicas: 0,
    count: 0,
    paused: false,
    policy: '',
    kind: '',
    timeout: '0s',
    parts: [],
    selector: {},
  });
  assert.deepEqual(value, { created: null, parts: null, raw: null, selector: {}, replicas: 0, timeout: '0s' });
});

test('fields come out in declared order with kind and apiVersion first and map keys sorted', () => {
  const text = JSON.stringify(
    canonical({
      paused: true,
      labels: { b: '2', a: '1' },
      parts: [{ probe: { period: 1, port: 'http', exec: ['x'] }, name: 'n' }],
      apiVersion: 'test/v1',
      kind: 'Thing',
    }),
  );
  assert.equal(
    text,
    '{"kind":"Thing","apiVersion":"test/v1","created":null,' +
      '"parts":[{"name":"n","probe":{"exec":["x"],"port":"http","period":1},"resources":{}}],' +
      '"labels":{"a":"1","b":"2"},"paused":true,"raw":null,"selector":null}',
  );
});

test('values take their canonical form', () => {
  const value = canonical({
    created: '2024-01-01T01:00:00.5+01:00',
    timeout: '90s',
    data: { k: 'YR==', nothing: null },
    parts: [{ limits: { cpu: '1000m', memory: 2, disk: null } }, null],
    names: ['a', null],
  });
  assert.equal(value.created, '2024-01-01T00:00:00Z');
  assert.equal(value.timeout, '1m30s');
  assert.deepEqual(value.data, { k: 'YQ==', nothing: '' });
  assert.deepEqual(value.names, ['a', '']);
  assert.deepEqual(value.parts, [
    { name: '', limits: { cpu: '1', disk: '0', memory: '2' }, resources: {} },
    { name: '', resources: {} },
  ]);
});

test('unknown fields are dropped and reported with their paths', () => {
  const { value, unknownFields } = decode(thing, {
    extra: 1,
    parts: [{ name: 'a' }, { name: 'b', probe: { foo: {} }, resources: { bar: null } }],
    tree: { children: [{ baz: 1 }], any: { free: 1 } },
    raw: { anything: 'goes' },
  });
  assert.deepEqual(unknownFields, ['extra', 'parts[1].probe.foo', 'parts[1].resources.bar', 'tree.children[0].baz']);
  assert.deepEqual(value.parts, [
    { name: 'a', resources: {} },
    { name: 'b', probe: {}, resources: {} },
  ]);
  assert.deepEqual(value.raw, { anything: 'goes' });
});

test('the input is not changed and fresh objects are made', () => {
  const input = Object.freeze({ parts: Object.freeze([Object.freeze({ name: 'a', x: 1 })]) });
  const first = canonical(input);
  const second = canonical(input);
  (first.parts?.[0] as { name: string }).name = 'changed';
  first.parts?.[0]?.resources.claims?.push('x');
  assert.equal(second.parts?.[0]?.name, 'a');
  assert.notEqual(first.parts?.[0]?.resources, second.parts?.[0]?.resources);
});

test('a key named __proto__ is data in maps and unknown in structs', () => {
  const { value, unknownFields } = decode(
    thing,
    JSON.parse('{"labels":{"__proto__":"x","a":"b"},"__proto__":{"q":1}}'),
  );
  assert.equal(JSON.stringify(value.labels), '{"__proto__":"x","a":"b"}');
  assert.equal(Object.getPrototypeOf(value.labels), Object.prototype);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal((value as { q?: unknown }).q, undefined);
  assert.deepEqual(unknownFields, ['__proto__']);
});

test('wrong values are refused with their path, the expected form and the found value', () => {
  assertRefused([], '', 'expected an object, found a list');
  assertRefused('x', '', 'expected an object, found the string "x"');
  assertRefused({ parts: {} }, 'parts', 'expected a list, found an object');
  assertRefused({ parts: [{ name: 1 }] }, 'parts[0].name', 'expected a string, found the number 1');
  assertRefused(
    { parts: [{ probe: { period: '1' } }] },
    'parts[0].probe.period',
    /whole number of 32 bits, found the string "1"/,
  );
  assertRefused({ replicas: 1.5 }, 'replicas', /whole number/);
  assertRefused({ replicas: 2 ** 31 }, 'replicas', /32 bits/);
  // A number of this size may have lost digits already; the JSON parser would have produced a bigint.
  assertRefused({ count: 2 ** 53 }, 'count', /64 bits/);
  assertRefused({ count: 2n ** 63n }, 'count', /64 bits/);
  assertRefused({ count: 1e30 }, 'count', /64 bits/);
  assertRefused({ paused: 'true' }, 'paused', 'expected true or false, found the string "true"');
  assertRefused({ labels: { a: 1 } }, 'labels.a', /string/);
  assertRefused({ data: { k: 'no base64' } }, 'data.k', 'illegal base64 data at input byte 2');
  assertRefused({ created: 'today' }, 'created', /^parsing time "today"/);
  assertRefused({ timeout: 5 }, 'timeout', 'expected a duration, found the number 5');
  assertRefused({ parts: [{ limits: { cpu: 'lots' } }] }, 'parts[0].limits.cpu', /^quantities must match/);
  assertRefused({ kind: 5 }, 'kind', /expected a string/);
});

test('nesting is limited for raw values and for types that contain themselves', () => {
  const nest = (depth: number, inner: unknown, wrap: (value: unknown) => unknown) => {
    let value = inner;
    for (let i = 0; i < depth; i++) value = wrap(value);
    return value;
  };
  const children = (value: unknown) => ({ children: [value] });
  const member = (value: unknown) => ({ a: value });
  assert.ok(canonical({ tree: nest(maxSelfNesting, {}, children) }).tree);
  assert.throws(() => decode(thing, { tree: nest(maxSelfNesting + 1, {}, children) }), DecodeError);
  assert.throws(() => decode(thing, { tree: nest(200_000, {}, children) }), DecodeError);
  assert.ok(canonical({ raw: nest(maxDepth - 1, {}, member) }).raw);
  assertRefused({ raw: nest(maxDepth + 10, {}, member) }, 'raw', 'exceeded max depth');
  assertRefused({ tree: { any: nest(200_000, {}, (value) => [value]) } }, 'tree.any', 'exceeded max depth');
});

test('variants take their simple or their struct form', () => {
  const variants = struct('test.v1.Variants', {
    orBool: pointer(1, structOrBool('test.v1.OrBool', part)),
    orList: pointer(2, structOrList('test.v1.OrList', part)),
    orStrings: pointer(3, structOrStrings('test.v1.OrStrings', part)),
  });
  const one = { name: 'a', resources: {} };
  const given = { orBool: false, orList: [{ name: 'a' }], orStrings: ['x'] };
  assert.deepEqual(decode(variants, given).value, { orBool: false, orList: [one], orStrings: ['x'] });
  const structs = { orBool: { name: 'a' }, orList: { name: 'a' }, orStrings: { name: 'a', q: 1 } };
  const decoded = decode(variants, structs);
  assert.deepEqual(decoded.value, { orBool: one, orList: one, orStrings: one });
  assert.deepEqual(decoded.unknownFields, ['orStrings.q']);
  assert.throws(() => decode(variants, { orStrings: [1] }), { path: 'orStrings[0]' });
  assert.throws(() => decode(variants, { orBool: 'yes' }), { path: 'orBool' });
  assert.throws(() => decode(variants, { orBool: [] }), { path: 'orBool' });
});

test('fields of gates are dropped unless their gate is open', () => {
  const type = struct('test.v1.OfGate', { name: required(1, string), mode: pointer(2, int32, { gate: 'Modes' }) });
  const input = { name: 'a', mode: 3 };
  assert.deepEqual(decode(type, input).value, { name: 'a' });
  openFieldGates(['Modes', 'Others']);
  assert.deepEqual(decode(type, input).value, input);
  openFieldGates([]);
  assert.deepEqual(decode(type, input).value, { name: 'a' });
  assert.deepEqual(decode(type, input).unknownFields, []);
});

test('fields of features that are not there are known and dropped', () => {
  const type = struct('test.v1.Gated', {
    name: required(1, string),
    mode: pointer(2, int32, { dropped: true }),
    parts: optional(3, list(probe), { dropped: true }),
  });
  const { value, unknownFields } = decode(type, { name: 'a', mode: 0, parts: [{ period: 1 }] });
  assert.deepEqual([value, unknownFields], [{ name: 'a' }, []]);
  assert.throws(() => decode(type, { name: 'a', mode: 'x' }), DecodeError);
});
