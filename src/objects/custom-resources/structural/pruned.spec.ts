import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { pruned, structuralSchema } from './index.js';

const text: JSONSchemaProps = { type: 'string' };
const free: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function object(properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'object', properties, ...more };
}

interface Case {
  readonly title: string;
  readonly schema: JSONSchemaProps;
  readonly value: unknown;
  readonly expected?: unknown;
  readonly unknown?: readonly string[];
  readonly isRoot?: boolean;
}

const cases: readonly Case[] = [
  { title: 'known fields', schema: object({ a: text }), value: { a: 'x' } },
  {
    title: 'unknown fields at every level',
    schema: object({ spec: object({ list: { type: 'array', items: object({ a: text }) } }) }),
    value: { x: 1, spec: { foo: {}, list: [{ a: 'x', bar: 1 }, { bar: { a: 1 } }] } },
    expected: { spec: { list: [{ a: 'x' }, {}] } },
    unknown: ['spec.foo', 'spec.list[0].bar', 'spec.list[1].bar', 'x'],
  },
  { title: 'wrong types', schema: object({ a: text, b: object({}) }), value: { a: {}, b: 'x' } },
  {
    title: 'members of a value that should be a string',
    schema: object({ a: text }),
    value: { a: { b: 1 } },
    expected: { a: {} },
    unknown: ['a.b'],
  },
  { title: 'values of a map', schema: { type: 'object', additionalProperties: text }, value: { a: 'x', b: 'y' } },
  {
    title: 'fields in values of a map',
    schema: { type: 'object', additionalProperties: object({ a: text }) },
    value: { k: { a: 'x', b: 1 }, l: {} },
    expected: { k: { a: 'x' }, l: {} },
    unknown: ['k.b'],
  },
  {
    title: 'scalars under additionalProperties: true',
    schema: { type: 'object', additionalProperties: true },
    value: { a: 1 },
  },
  {
    title: 'objects under additionalProperties: true',
    schema: { type: 'object', additionalProperties: true },
    value: { a: { b: 1 }, l: [{ c: 1 }] },
    expected: { a: {}, l: [{}] },
    unknown: ['a.b', 'l[0].c'],
  },
  { title: 'a free object', schema: free, value: { a: { b: [{ c: null }] } } },
  {
    title: 'declared fields of a free object',
    schema: object({ a: object({ b: text }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
    value: { z: { any: 1 }, a: { b: 'x', c: 1 } },
    expected: { a: { b: 'x' }, z: { any: 1 } },
    unknown: ['a.c'],
  },
  {
    title: 'a free object in a declared one of a free one',
    schema: object({ a: object({ b: free }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
    value: { a: { b: { c: 1 } } },
  },
  {
    title: 'items of a free list',
    schema: { 'x-kubernetes-preserve-unknown-fields': true },
    value: [{ a: 1 }, [{ b: 2 }]],
  },
  {
    title: 'nulls of fields that may not be null',
    schema: object({ a: text, b: { type: 'string', nullable: true }, c: { type: 'string', default: 'x' } }),
    value: { a: null, b: null, c: null },
    expected: { b: null, c: null },
  },
  {
    title: 'nulls in maps and lists',
    schema: object({ m: { type: 'object', additionalProperties: text }, l: { type: 'array', items: text } }),
    value: { l: [null], m: { a: null } },
    expected: { l: [null], m: {} },
  },
  { title: 'nulls in free objects', schema: free, value: { a: null } },
  {
    title: 'the head of an object',
    schema: object({ spec: object({}) }),
    value: { spec: { a: 1 }, status: {}, metadata: { name: 'a', odd: 1 }, apiVersion: 'a/v1', kind: 'A' },
    expected: { kind: 'A', apiVersion: 'a/v1', metadata: { name: 'a', odd: 1 }, spec: {} },
    unknown: ['spec.a', 'status'],
    isRoot: true,
  },
  {
    title: 'an embedded resource',
    schema: object({ t: object({ spec: object({}) }, { 'x-kubernetes-embedded-resource': true }) }),
    value: { t: { kind: 'A', apiVersion: 'v1', metadata: { name: 'x', odd: 1, creationTimestamp: null }, more: 1 } },
    expected: { t: { apiVersion: 'v1', kind: 'A', metadata: { name: 'x' } } },
    unknown: ['t.metadata.odd', 't.more'],
  },
  {
    title: 'keys like those of a prototype',
    schema: object({ a: text }),
    value: JSON.parse('{"constructor": 1, "__proto__": {"a": 1}, "toString": 2}'),
    expected: {},
    unknown: ['__proto__', 'constructor', 'toString'],
  },
];

describe('pruned', () => {
  for (const { title, schema, value, expected, unknown, isRoot } of cases) {
    it(title, () => {
      const seen: string[] = [];
      const before = JSON.stringify(value);
      const made = structuralSchema(schema);
      const copy = pruned(made, value, { isRoot: isRoot === true, onUnknown: (path) => seen.push(path) });
      assert.deepEqual(copy, expected ?? value);
      assert.deepEqual(seen, unknown ?? []);
      assert.equal(JSON.stringify(value), before);
      assert.equal(JSON.stringify(pruned(made, copy, { isRoot: isRoot === true })), JSON.stringify(copy));
    });
  }

  it('keeps nulls that validation refuses, if wanted', () => {
    const properties = {
      a: text,
      n: { ...text, nullable: true },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      i: { 'x-kubernetes-int-or-string': true },
    };
    const value = { a: null, any: null, i: null, n: null };
    const kept = pruned(structuralSchema(object(properties)), value, { keepsNulls: true });
    assert.deepEqual(kept, { a: null, i: null, n: null });
  });

  it('sorts keys behind kind, apiVersion and metadata', () => {
    const schema = structuralSchema(object({ b: free, a: text }));
    const copy = pruned(schema, { b: { y: 1, x: { d: 1, c: 2 } }, a: 'x', metadata: {}, kind: 'A' }, { isRoot: true });
    assert.equal(JSON.stringify(copy), '{"kind":"A","metadata":{},"a":"x","b":{"x":{"c":2,"d":1},"y":1}}');
  });

  it('writes numbers and text as every client reads them', () => {
    const schema = structuralSchema(object({ a: { type: 'number' }, b: free, l: { type: 'array', items: free } }));
    const body =
      '{"a":1.0,"b":{"\\ud800":"\\udc00","c":12345678901234567890,"d":1e3},"l":[9007199254740993,-0.0,"\\ud83d\\ude00"]}';
    const plain = '{"a":1,"b":{"c":12345678901234567000,"d":1000,"\ufffd":"\ufffd"},"l":[9007199254740993,0,"😀"]}';
    assert.equal(JSON.stringify(pruned(schema, parseJson(body))), plain);
  });

  it('refuses numbers beyond all doubles, wherever they are', () => {
    const schema = structuralSchema(object({ a: { type: 'number' }, b: free, l: { type: 'array', items: free } }));
    for (const body of ['{"a":1e400}', '{"b":{"c":[-1e400]}}', '{"l":[{"x":1e400}]}', `{"b":${'9'.repeat(400)}}`]) {
      assert.throws(() => pruned(schema, parseJson(body)), {
        name: 'DecodeError',
        message: /beyond the numbers of 64 bits/,
      });
    }
  });

  it('keeps __proto__ as a key of a map', () => {
    const schema = structuralSchema({ type: 'object', additionalProperties: text });
    assert.equal(JSON.stringify(pruned(schema, JSON.parse('{"__proto__":"x"}'))), '{"__proto__":"x"}');
  });

  it('reports at most a hundred unknown fields', () => {
    const value = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, i]));
    const seen: string[] = [];
    assert.deepEqual(pruned(structuralSchema(object({})), value, { onUnknown: (path) => seen.push(path) }), {});
    assert.equal(seen.length, 100);
  });

  const embedded = object({ list: { type: 'array', items: { ...free, 'x-kubernetes-embedded-resource': true } } });
  const faults: readonly [value: unknown, message: RegExp][] = [
    [{ kind: 5 }, /^list\[0\]\.kind: Invalid value: 5: must be a string$/],
    [{ apiVersion: {} }, /^list\[0\]\.apiVersion: Invalid value: \{\}: must be a string$/],
    [{ metadata: 'x' }, /^list\[0\]\.metadata: expected an object, found the string "x"$/],
    [{ metadata: { labels: { a: 1 } } }, /^list\[0\]\.metadata\.labels\.a: expected a string, found the number 1$/],
  ];
  for (const [value, message] of faults) {
    it(`refuses ${JSON.stringify(value)} as an embedded resource`, () => {
      assert.throws(() => pruned(structuralSchema(embedded), { list: [value] }), { name: 'DecodeError', message });
    });
  }
});
