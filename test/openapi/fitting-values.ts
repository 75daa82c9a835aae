import type { Random } from '../support/random.js';
import { type DocumentSchemas, type Json, nameOfReference } from './document-schemas.js';

/** Texts with a form that the schemas can't express, by the end of the name of their definition. */
const knownForms: readonly (readonly [ending: string, values: readonly unknown[]])[] = [
  ['.Quantity', ['1', '250m', '64Mi']],
  ['.IntOrString', [1, 80, '50%', 'web']],
  // Of the same format as other times; JSON needs the six digits.
  ['.MicroTime', ['2030-01-01T00:00:00.000000Z', '1999-12-31T23:59:59.123456Z']],
  ['.Duration', ['30s', '1h0m0s']],
  ['.RawExtension', [{ a: 1 }]],
  ['.FieldsV1', [{ 'f:a': {} }]],
  [
    '.JSONSchemaProps',
    [{ type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } }, { type: 'string' }],
  ],
];
const texts = ['a', 'b-c', 'example.com/x', '10.1.2.3', 'A b', ''];
const keys = ['a', 'b.c', 'example.com/d'];
/** Objects within objects end here. */
const maxDepth = 9;

/** Makes a value that a schema allows, whether or not it makes sense. */
export function fittingValue(schemas: DocumentSchemas, schema: Json, random: Random, depth = 0): Json {
  const reference: string | undefined = (schema.allOf?.[0] ?? schema).$ref;
  if (reference !== undefined) {
    const known = knownForms.find(([ending]) => nameOfReference(reference).endsWith(ending));
    if (known !== undefined) return random.pick(known[1]);
  }
  const { type, format, items, properties, required = [], additionalProperties, oneOf } = schemas.resolve(schema);
  if (oneOf !== undefined) return fittingValue(schemas, random.pick(oneOf), random, depth);
  const inner = (of: Json) => fittingValue(schemas, of, random, depth + 1);
  switch (type) {
    case 'string':
      if (format === 'byte') return random.pick(['', 'YQ==', 'AAECAw==']);
      if (format === 'date-time') return random.pick(['2030-01-01T00:00:00Z', '1999-12-31T23:59:59.123456Z']);
      return random.pick(texts);
    case 'integer':
      return random.pick([0, 1, 7, 80, -1, 65_536, 2 ** 31 - 1]);
    case 'number':
      return random.pick([0, 1, 0.5, -1e9]);
    case 'boolean':
      return random.chance(0.5);
    case 'array':
      return depth > maxDepth ? [] : Array.from({ length: random.below(3) }, () => inner(items));
    case 'object': {
      const object: Json = {};
      if (additionalProperties !== undefined) {
        for (const key of keys) if (random.chance(0.4) && depth < maxDepth) object[key] = inner(additionalProperties);
      }
      for (const [name, member] of Object.entries<Json>(properties ?? {})) {
        const isGiven = required.includes(name) || random.chance(depth < 2 ? 0.7 : 0.3);
        // Nested kinds are distinguished by their place.
        if (isGiven && depth < maxDepth && name !== 'apiVersion' && name !== 'kind') object[name] = inner(member);
      }
      return object;
    }
    default:
      return random.pick([1, 'a', { a: [true] }]);
  }
}

/** For each type, a value of another type. */
const wrongValues: Readonly<Record<string, readonly Json[]>> = {
  string: [7, true, { no: 1 }, ['a']],
  integer: ['no', true, 1.5, {}, 2 ** 70],
  number: ['no', true, {}],
  boolean: ['no', 0, {}],
  array: ['no', 7, { 0: 'a' }],
  object: ['no', 7, true, ['a']],
};

/**
 * Gives one declared field of a body, picked by chance, a value of the wrong type.
 *
 * @returns where; undefined when the pick has no type to miss
 */
export function breakBody(
  schemas: DocumentSchemas,
  schema: Json,
  body: Json,
  random: Random,
  depth = 0,
): string | undefined {
  const { properties } = schemas.resolve(schema);
  const fields = Object.keys(properties ?? {}).filter((field) => field !== 'apiVersion' && field !== 'kind');
  if (fields.length === 0) return undefined;
  const field = random.pick(fields);
  const inner = schemas.resolve(properties[field]);
  const { type } = inner;
  if (inner.properties !== undefined && depth < maxDepth && random.chance(0.7)) {
    const before = body[field];
    const below = typeof before === 'object' && before !== null ? before : {};
    const where = breakBody(schemas, properties[field], below, random, depth + 1);
    if (where !== undefined) {
      body[field] = below;
      return `${field}.${where}`;
    }
  }
  if (type === undefined) return undefined;
  body[field] = random.pick(wrongValues[type] ?? []);
  return field;
}
