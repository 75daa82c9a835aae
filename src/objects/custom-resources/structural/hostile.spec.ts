import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machinePace } from '../../../../test/support/processor-time.js';
import { collectErrors, collectErrorsInSteps, FieldPath } from '../../../base/machinery/field-error.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { atOnce } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { definitionSchemaErrors, pruned, structuralSchema, validateValue, withDefaults } from './index.js';

const text: JSONSchemaProps = { type: 'string' };
const integer: JSONSchemaProps = { type: 'integer' };
const free: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function object(properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'object', properties, ...more };
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

function properties(count: number, make: (i: number) => JSONSchemaProps): JSONSchemaProps {
  return object(Object.fromEntries(times(count, (i) => [`p${i}`, make(i)])));
}

function list(items: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps {
  return object({ l: { type: 'array', items, ...more } });
}

function nested<T>(depth: number, inner: T, wrap: (inner: T) => T): T {
  let value = inner;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

function tree(depth: number): JSONSchemaProps {
  return depth === 0 ? { required: ['z'] } : { anyOf: [tree(depth - 1), tree(depth - 1)] };
}

const set: JSONSchemaProps = { 'x-kubernetes-list-type': 'set' };
const keyed: JSONSchemaProps = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
const resource: JSONSchemaProps = { ...free, 'x-kubernetes-embedded-resource': true };

/** Schemas and values of about 64 KiB each, the size that is processed between other requests. */
const cases: readonly [title: string, schema: JSONSchemaProps, value?: unknown, old?: unknown][] = [
  ['many properties', properties(2000, () => text), Object.fromEntries(times(5000, (i) => [`p${i}`, 'x']))],
  ['many unknown fields', object({}), Object.fromEntries(times(8000, (i) => [`u${i}`, 1]))],
  ['deep nesting', nested(190, text, (a) => object({ a })), nested<unknown>(900, 'x', (a) => ({ a }))],
  ['a list of wrong values', list(text), { l: times(32_000, () => 1) }],
  ['a changed list of wrong values', list(text), { l: times(32_000, () => 1) }, { l: times(32_001, () => 1) }],
  ['a large set', list(integer, set), { l: times(100_000, (i) => i) }],
  ['a large set of the same', list(integer, set), { l: times(32_000, () => 1) }],
  [
    'a set of objects',
    list({ ...free, 'x-kubernetes-map-type': 'atomic' }, set),
    { l: times(8000, (i) => ({ k: i })) },
  ],
  [
    'a list map in another order',
    list(object({ k: text }, { required: ['k'] }), keyed),
    { l: times(6000, (i) => ({ k: `${i}` })) },
    { l: times(6000, (i) => ({ k: `${6000 - i}`, v: 1 })) },
  ],
  ['a long enum', list({ ...text, enum: times(8000, (i) => `e${i}`) }), { l: times(8000, (i) => `e${i + 1}`) }],
  ['required fields', object({}, { required: times(8000, (i) => `r${i}`) }), {}],
  [
    'alternatives of many items',
    list({ ...integer, anyOf: times(3000, (i) => ({ minimum: 1000 + i })) }),
    { l: times(32_000, () => 1) },
  ],
  [
    'alternatives that count one by one',
    list({ ...integer, oneOf: times(3000, (i) => ({ minimum: i * 1000 })) }),
    { l: times(32_000, () => 1) },
  ],
  ['a tree of alternatives', { ...free, ...tree(11) }, { a: 1 }],
  [
    'a chain of alternatives',
    {
      ...free,
      ...nested<JSONSchemaProps>(180, {}, (a) => ({ anyOf: [a, { required: ['y'] }], required: ['z'] })).anyOf?.[0],
    },
    {},
  ],
  [
    'enums of objects that contain one another',
    nested(150, free, (a) => object({ a }, { enum: [{ q: 1 }], maxProperties: 0 })),
    nested<unknown>(150, { b: 'x'.repeat(32_000) }, (a) => ({ a })),
    { a: 1 },
  ],
  ['a pattern that backtracks', object({ a: { ...text, pattern: '^(x+x+)+y$' } }), { a: 'x'.repeat(64_000) }],
  ['a pattern with many states', object({ a: { ...text, pattern: '^.*a.{90}$' } }), { a: 'ab'.repeat(32_000) }],
  ['a large pattern', object({ a: { ...text, pattern: '(a?){400}a{400}' } }), { a: 'a'.repeat(64_000) }],
  ['many patterns', properties(2000, (i) => ({ ...text, pattern: `^a{${i % 900}}b${i}` })), {}],
  ['patterns that repeat much', properties(2000, (i) => ({ ...text, pattern: `(${i}{30}){30}` })), {}],
  [
    'defaults of many items',
    list(properties(800, () => ({ ...text, default: 'x' }))),
    { l: times(21_000, () => ({})) },
  ],
  ['many list keys', list(object({}), { ...keyed, 'x-kubernetes-list-map-keys': times(8000, (i) => `k${i}`) })],
  [
    'many embedded resources',
    list(resource),
    { l: times(1500, (i) => ({ apiVersion: 'v1', kind: 'X', metadata: { name: `x${i}` } })) },
  ],
  ['embedded resources without anything', list(resource), { l: times(20_000, () => ({})) }],
];

/** The longest that a case may take, in milliseconds: far more than it costs, far less than any quadratic cost. */
const limitMs = 1000;

function userMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1000;
}

describe('hostile schemas and values', () => {
  for (const [title, props, value, old] of cases) {
    it(title, () => {
      const schema = structuralSchema(props);
      const steps: Readonly<Record<string, () => unknown>> = {
        definition: () => atOnce(collectErrorsInSteps(100, definitionSchemaErrors(props, FieldPath.of('s')))),
        pruning: () => pruned(schema, value, { onUnknown: () => {} }),
        defaults: () => {
          try {
            withDefaults(schema, value);
          } catch (error) {
            assert.ok(error instanceof StatusError);
          }
        },
        validation: () => collectErrors(100, () => validateValue(schema, value, undefined, { old })),
      };
      for (const [name, step] of Object.entries(steps)) {
        if (value === undefined && name !== 'definition') continue;
        const ms = userMs(step);
        assert.ok(ms < limitMs || ms < limitMs * machinePace(), `${name} took ${ms} ms`);
      }
    });
  }

  it('refuses what would take too much work instead of taking it', () => {
    const schema = structuralSchema(list({ ...integer, oneOf: times(3000, (i) => ({ minimum: i * 1000 })) }));
    const [error] = validateValue(schema, { l: times(32_000, () => 1) }, undefined).slice(-1);
    assert.match(error?.message ?? '', /takes too much work to validate/);
  });

  it('returns a thousand errors at most', () => {
    assert.equal(validateValue(structuralSchema(list(text)), { l: times(5000, () => 1) }, undefined).length, 1000);
  });
});
