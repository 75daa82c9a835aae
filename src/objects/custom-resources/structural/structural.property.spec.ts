import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { cloneJson, parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { atOnce } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { definitionSchemaErrors, pruned, structuralSchema, validateValue, withDefaults } from './index.js';

/** Returns a number from 0 to below a limit; the sequence is the same for the same seed. */
type Random = (limit: number) => number;

function randomFrom(seed: number): Random {
  let state = seed * 2654435761 + 1;
  return (limit) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    state ^= state >>> 12;
    return (state >>> 0) % limit;
  };
}

const names = ['a', 'b', 'c', 'kind', 'metadata', 'constructor'] as const;
const scalars: readonly JSONSchemaProps[] = [
  { type: 'string' },
  { type: 'string', maxLength: 1 },
  { type: 'string', pattern: '^[ab]+$' },
  { type: 'string', enum: ['a', 'b'], default: 'a' },
  { type: 'string', nullable: true, default: 'b' },
  { type: 'string', format: 'date' },
  { type: 'integer', minimum: 0, maximum: 2 },
  { type: 'integer', default: 1 },
  { type: 'number', multipleOf: 0.5 },
  { type: 'boolean', default: false },
  { 'x-kubernetes-int-or-string': true },
  { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  { 'x-kubernetes-preserve-unknown-fields': true },
];

function randomSchema(random: Random, depth: number): JSONSchemaProps {
  const choice = depth === 0 ? 0 : random(6);
  if (choice === 0) return { ...(scalars[random(scalars.length)] as JSONSchemaProps) };
  if (choice === 1) {
    const items = randomSchema(random, depth - 1);
    const isSet = random(2) === 0 && items.type !== 'object' && items.type !== 'array' && items.nullable !== true;
    return isSet ? { type: 'array', items, 'x-kubernetes-list-type': 'set' } : { type: 'array', items, maxItems: 3 };
  }
  if (choice === 2) return { type: 'object', additionalProperties: randomSchema(random, depth - 1) };
  if (choice === 3) {
    const items = randomObject(random, depth - 1);
    items.properties = { ...items.properties, k: { type: 'string' } };
    items.required = ['k'];
    delete items.default;
    delete items.nullable;
    return { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  }
  return randomObject(random, depth);
}

function randomObject(random: Random, depth: number): JSONSchemaProps {
  const properties: Record<string, JSONSchemaProps> = {};
  for (let i = random(4); i >= 0; i--) {
    properties[names[random(names.length)] as string] = randomSchema(random, Math.max(0, depth - 1));
  }
  const schema: JSONSchemaProps = { type: 'object', properties };
  const known = Object.keys(properties);
  const name = known[random(known.length)] as string;
  switch (random(8)) {
    case 0:
      schema['x-kubernetes-preserve-unknown-fields'] = true;
      break;
    case 1:
      schema.required = [name];
      break;
    case 2:
      if (!known.includes('metadata'))
        schema.anyOf = [{ required: [name] }, { properties: { [name]: { enum: ['a', 1] } } }];
      break;
    case 3:
      schema.default = {};
      break;
    case 4:
      schema.nullable = true;
      break;
  }
  return schema;
}

const scalarValues = ['a', 'b', 'abc', '2020-01-01', 0, 1, 2.5, 9, true, false, null] as const;

/** A value that partly fits a schema and has faults. */
function randomValue(random: Random, schema: JSONSchemaProps, depth: number): unknown {
  const { type, items, properties, additionalProperties } = schema;
  if (depth === 0 || random(12) === 0) return scalarValues[random(scalarValues.length)];
  if (type === 'array') {
    return Array.from({ length: random(4) }, () => randomValue(random, items as JSONSchemaProps, depth - 1));
  }
  if (type === 'object') {
    const value: Record<string, unknown> = {};
    for (const name of Object.keys(properties ?? {})) {
      if (random(3) > 0) value[name] = randomValue(random, properties?.[name] as JSONSchemaProps, depth - 1);
    }
    const isMap = typeof additionalProperties === 'object';
    if (isMap) value[`m${random(3)}`] = randomValue(random, additionalProperties, depth - 1);
    if (random(3) === 0) value.odd = { x: [1, { y: null }] };
    return value;
  }
  return scalarValues[random(scalarValues.length)];
}

function shuffled(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => shuffled(random, element));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [random(1000), key, shuffled(random, member)] as const);
  entries.sort((a, b) => a[0] - b[0]);
  return Object.fromEntries(entries.map(([, key, member]) => [key, member]));
}

const runs = 3000;

describe('structural schemas', () => {
  it('keep their promises for any schema and value', () => {
    let valid = 0;
    let accepted = 0;
    for (let seed = 1; seed <= runs; seed++) {
      const random = randomFrom(seed);
      const props: JSONSchemaProps = { type: 'object', properties: { spec: randomSchema(random, 4) } };
      if (atOnce(definitionSchemaErrors(props, FieldPath.of('s'))).length > 0) continue;
      accepted++;
      const schema = structuralSchema(props);
      const input = { kind: 'A', apiVersion: 'a/v1', metadata: {}, ...(randomValue(random, props, 6) as object) };
      const text = JSON.stringify(input);
      const context = `seed ${seed}: ${JSON.stringify(props)} with ${text}`;

      const copy = pruned(schema, input, { isRoot: true });
      assert.equal(JSON.stringify(input), text, context);
      assert.equal(JSON.stringify(pruned(schema, copy, { isRoot: true })), JSON.stringify(copy), context);
      assert.equal(
        JSON.stringify(pruned(schema, shuffled(random, input), { isRoot: true })),
        JSON.stringify(copy),
        context,
      );

      const filled = withDefaults(schema, copy);
      assert.equal(withDefaults(schema, filled), filled, context);
      const again = withDefaults(schema, pruned(schema, filled, { isRoot: true }));
      assert.equal(JSON.stringify(again), JSON.stringify(filled), context);

      const errors = validateValue(schema, filled, undefined);
      const reread = parseJson(JSON.stringify(filled));
      assert.deepEqual(validateValue(schema, reread, undefined), errors, context);
      // An object that does not change is as valid as before.
      assert.deepEqual(validateValue(schema, filled, undefined, { old: cloneJson(filled) }), [], context);
      // A fault of an existing value is never excused because of a value that was missing.
      assert.deepEqual(validateValue(schema, filled, undefined, { old: {} }), errors, context);
      if (errors.length === 0) valid++;
    }
    // The schemas and values must not be trivial.
    assert.ok(accepted > runs / 2, `${accepted} schemas were accepted`);
    assert.ok(valid > runs / 20 && valid < accepted * 0.9, `${valid} of ${accepted} values were valid`);
  });
});
