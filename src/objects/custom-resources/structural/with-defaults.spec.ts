import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { hasDefaults, structuralSchema, TooManyDefaultsError, withDefaults } from './index.js';

const fast: JSONSchemaProps = { type: 'string', default: 'fast' };
const maybe: JSONSchemaProps = { type: 'string', default: 'fast', nullable: true };

function object(properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'object', properties, ...more };
}

const on = object({ on: { type: 'boolean', default: true } });

const cases: readonly [title: string, schema: JSONSchemaProps, value: unknown, expected?: unknown][] = [
  ['fills what is missing', object({ a: fast }), {}, { a: 'fast' }],
  ['keeps what is there', object({ a: fast }), { a: 'slow' }],
  ['keeps zero values', object({ a: { type: 'integer', default: 5 } }), { a: 0 }],
  ['keeps wrong types', object({ a: on }), { a: 'x' }],
  ['fills no object that is not there', object({ a: on }), {}],
  ['fills objects that are there', object({ a: on }), { a: {} }, { a: { on: true } }],
  ['fills defaults', object({ a: { ...on, default: {} } }), {}, { a: { on: true } }],
  ['replaces null', object({ a: fast }), { a: null }, { a: 'fast' }],
  ['replaces null by a default and fills it', object({ a: { ...on, default: {} } }), { a: null }, { a: { on: true } }],
  ['keeps null where it is allowed', object({ a: maybe }), { a: null }],
  ['keeps null without default', object({ a: on, b: fast }), { a: null, b: 'x' }],
  ['fills items', { type: 'array', items: on }, [{}, 5, { on: false }], [{ on: true }, 5, { on: false }]],
  ['replaces null items', { type: 'array', items: fast }, [null, 'x'], ['fast', 'x']],
  ['keeps null items without default', { type: 'array', items: on }, [null, {}], [null, { on: true }]],
  ['fills values of maps', { type: 'object', additionalProperties: on }, { k: {} }, { k: { on: true } }],
  ['replaces null in maps', { type: 'object', additionalProperties: fast }, { k: null }, { k: 'fast' }],
  [
    'fills declared fields of free objects',
    object({ a: fast }, { 'x-kubernetes-preserve-unknown-fields': true }),
    { z: {} },
    { a: 'fast', z: {} },
  ],
];

describe('withDefaults', () => {
  for (const [title, props, value, expected] of cases) {
    it(title, () => {
      const schema = structuralSchema(props);
      const before = JSON.stringify(value);
      const filled = withDefaults(schema, value);
      assert.deepEqual(filled, expected ?? value);
      assert.equal(JSON.stringify(value), before);
      assert.equal(withDefaults(schema, filled), filled);
      if (expected === undefined) assert.equal(filled, value);
    });
  }

  it('keeps keys in order', () => {
    const schema = structuralSchema(object({ b: fast, m: object({ b: fast }), z: fast }));
    const root = { kind: 'A', apiVersion: 'a/v1', metadata: {}, a: 1, m: { a: 1, c: 2 }, y: 1 };
    assert.equal(
      JSON.stringify(withDefaults(schema, root)),
      '{"kind":"A","apiVersion":"a/v1","metadata":{},"a":1,"b":"fast","m":{"a":1,"b":"fast","c":2},"y":1,"z":"fast"}',
    );
  });

  it('sorts the keys of embedded objects like any others', () => {
    const schema = structuralSchema(object({ t: object({ c: fast }) }));
    const filled = withDefaults(schema, { t: { apiVersion: 'v1', kind: 'A', metadata: {} } });
    assert.equal(JSON.stringify(filled), '{"t":{"apiVersion":"v1","c":"fast","kind":"A","metadata":{}}}');
  });

  it('copies defaults', () => {
    const schema = structuralSchema(object({ a: { ...object({}), default: { deep: [1] } } }));
    const [first, second] = [withDefaults(schema, {}), withDefaults(schema, {})] as { a: { deep: number[] } }[];
    first?.a.deep.push(2);
    assert.deepEqual(second, { a: { deep: [1] } });
    assert.deepEqual(schema.properties.get('a')?.default, { deep: [1] });
  });

  it('shares what does not change', () => {
    const schema = structuralSchema(object({ a: fast, b: on }));
    const value = { b: { on: true } };
    assert.equal((withDefaults(schema, value) as typeof value).b, value.b);
  });

  it('refuses to make a small value very large', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, fast]));
    const schema = structuralSchema({ type: 'array', items: object(properties) });
    const list = (length: number) => Array.from({ length }, () => ({}));
    assert.equal((withDefaults(schema, list(150)) as unknown[]).length, 150);
    assert.throws(() => withDefaults(schema, list(4000)), { name: 'StatusError', reason: 'RequestEntityTooLarge' });
    const nested = structuralSchema({ type: 'array', items: { ...object(properties), default: {} } });
    assert.throws(() => withDefaults(nested, Array(4000).fill(null)), TooManyDefaultsError);
    const full = withDefaults(schema, list(150)) as unknown[];
    const large = Array.from({ length: 50 }, () => full).flat();
    assert.equal(withDefaults(schema, large), large);
  });

  it('refuses to add long texts many times', () => {
    const long = { type: 'string', default: 'd'.repeat(100_000) } as const;
    const schema = structuralSchema({ type: 'array', items: object({ long }) });
    const list = (length: number) => Array.from({ length }, () => ({}));
    assert.equal((withDefaults(schema, list(30)) as unknown[]).length, 30);
    assert.throws(() => withDefaults(schema, list(10_000)), TooManyDefaultsError);
    const keyed = structuralSchema({ type: 'array', items: object({ ['k'.repeat(100_000)]: fast }) });
    assert.throws(() => withDefaults(keyed, list(10_000)), TooManyDefaultsError);
  });

  it('knows whether there are any', () => {
    assert.equal(hasDefaults(structuralSchema(object({ a: on }))), true);
    assert.equal(hasDefaults(structuralSchema(object({ a: { type: 'string' } }))), false);
    assert.equal(hasDefaults(structuralSchema({ type: 'array', items: fast })), true);
  });
});
