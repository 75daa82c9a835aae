import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { structuralSchema, validateValue } from './index.js';

const text: JSONSchemaProps = { type: 'string' };
const integer: JSONSchemaProps = { type: 'integer' };

function object(properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'object', properties, ...more };
}

/** The errors as clients see them, with a letter for the reason. */
function errorsOf(schema: JSONSchemaProps, value: unknown, old?: unknown): string[] {
  const errors = validateValue(structuralSchema(schema), value, undefined, { old });
  return errors.map(({ type, field, message }) => `${type.replace('FieldValue', '')} ${field}: ${message}`);
}

const listMap: JSONSchemaProps = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k', 'p'],
  items: object(
    { k: text, p: { type: 'string', default: 'TCP' }, v: { type: 'integer', maximum: 5 } },
    { required: ['k'] },
  ),
};
const free: JSONSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true };

/** Embedded resources. */
const embedded = object({ t: { type: 'object', ...free, 'x-kubernetes-embedded-resource': true } });
const embeddedCases: readonly [value: unknown, ...errors: (string | RegExp)[]][] = [
  [{ apiVersion: 'v1', kind: 'Pod' }],
  [{ apiVersion: 'a.b/v1', kind: 'X', metadata: { name: 'x', labels: { a: 'b' } } }],
  [{ kind: 'X' }, 'Required t.apiVersion: Required value'],
  [{ apiVersion: 'v1' }, 'Required t.kind: Required value'],
  [
    { apiVersion: '', kind: '' },
    'Invalid t.apiVersion: Invalid value: "": must not be empty',
    'Invalid t.kind: Invalid value: "": must not be empty',
  ],
  [
    { apiVersion: 'a/b/c', kind: 'X Y' },
    'Invalid t.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    /^Invalid t.kind: Invalid value: "X Y": may have mixed case, but should otherwise match: a DNS-1035 label/,
  ],
  [
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'a/b', labels: { 'a b': 'c' } } },
    `Invalid t.metadata.name: Invalid value: "a/b": may not contain '/'`,
    /^Invalid t.metadata.labels: Invalid value: "a b": name part must consist of/,
  ],
];

describe('validateValue of embedded resources', () => {
  for (const [value, ...expected] of embeddedCases) {
    it(JSON.stringify(value), () => {
      const errors = errorsOf(embedded, { t: value });
      assert.equal(errors.length, expected.length, errors.join('\n'));
      for (const [i, error] of expected.entries()) {
        if (typeof error === 'string') assert.equal(errors[i], error);
        else assert.match(errors[i] as string, error);
      }
    });
  }
});

const unique: JSONSchemaProps = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };
const small: JSONSchemaProps = { ...integer, maximum: 5 };
const tooBig = (place: string, value: number) =>
  `Invalid ${place}: Invalid value: ${value}: ${place} in body should be less than or equal to 5`;

const updates: readonly [title: string, schema: JSONSchemaProps, old: unknown, value: unknown, ...errors: string[]][] =
  [
    ['an unchanged field', object({ a: small, b: text }), { a: 9, b: 'x' }, { a: 9, b: 'y' }],
    ['a changed field', object({ a: small }), { a: 9 }, { a: 8 }, tooBig('a', 8)],
    ['a new field', object({ a: small }), {}, { a: 9 }, tooBig('a', 9)],
    [
      'another spelling of the same number',
      object({ a: { type: 'number', maximum: 5 } }),
      { a: 9 },
      parseJson('{"a":9.0}'),
    ],
    [
      'a change of type',
      object({ a: small }),
      { a: 9 },
      { a: '9' },
      'TypeInvalid a: Invalid value: "string": a in body must be of type integer: "string"',
    ],
    ['null as before', object({ a: small }), { a: null }, { a: null }],
    [
      'fields of a changed object',
      object({ s: object({ a: small, b: small, c: text }) }),
      { s: { a: 9, b: 9 } },
      { s: { a: 9, b: 8, c: 'x' } },
      tooBig('s.b', 8),
    ],
    [
      'what is missing in a changed object',
      object({ s: object({ a: text, b: text }, { required: ['a'] }) }),
      { s: { b: 'x' } },
      { s: { b: 'y' } },
      'Required s.a: Required value',
    ],
    [
      'what is missing in an unchanged object',
      object({ s: object({ b: text }, { required: ['a'] }), t: text }),
      { s: { b: 'x' }, t: 'x' },
      { s: { b: 'x' }, t: 'y' },
    ],
    [
      'values of a map',
      object({ m: { type: 'object', additionalProperties: small } }),
      { m: { k: 9 } },
      { m: { k: 9, l: 8 } },
      tooBig('m.l', 8),
    ],
    [
      'an unchanged list',
      object({ l: { type: 'array', items: small }, b: text }),
      { l: [9], b: 'x' },
      { l: [9], b: 'y' },
    ],
    [
      'an item of a changed list',
      object({ l: { type: 'array', items: small } }),
      { l: [9] },
      { l: [9, 1] },
      tooBig('l[0]', 9),
    ],
    [
      'items of a list map, by their keys',
      object({ l: listMap }),
      {
        l: [
          { k: 'a', v: 9 },
          { k: 'b', v: 9 },
        ],
      },
      {
        l: [
          { k: 'b', v: 9, p: 'TCP' },
          { k: 'a', v: 8 },
          { k: 'a', p: 'UDP', v: 9 },
        ],
      },
      tooBig('l[1].v', 8),
      tooBig('l[2].v', 9),
    ],
    [
      'an unchanged field in an alternative',
      object({ a: text, b: integer }, { anyOf: [{ properties: { b: { maximum: 5 } } }] }),
      { a: 'x', b: 9 },
      { a: 'y', b: 9 },
    ],
    [
      'an alternative that is not fulfilled by a changed object',
      object({ a: text, b: integer }, { anyOf: [{ required: ['c'] }] }),
      { b: 9 },
      { b: 8 },
      'Invalid <nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
      'Required c: Required value',
    ],
    ['a set that was none before', object({ l: unique }), { l: ['a', 'a'] }, { l: ['b', 'b'] }],
    [
      'a set that no longer is one',
      object({ l: unique }),
      { l: ['a'] },
      { l: ['a', 'a'] },
      'Duplicate l[1]: Duplicate value: "a"',
    ],
    [
      'an embedded resource',
      embedded,
      { t: { kind: 'X' } },
      { t: { kind: 'X' } },
      'Required t.apiVersion: Required value',
    ],
  ];

describe('validateValue of updates', () => {
  for (const [title, schema, old, value, ...expected] of updates) {
    it(`${expected.length === 0 ? 'lets pass' : 'checks'} ${title}`, () => {
      assert.deepEqual(errorsOf(schema, value, old), expected);
      // On create no fault is excused.
      assert.notEqual(errorsOf(schema, value).length, 0);
    });
  }
});
