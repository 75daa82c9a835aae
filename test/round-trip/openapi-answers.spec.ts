import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decode,
  jsonFields,
  type KindType,
  OpenApiBuilder,
  type OpenApiSchema,
  zeroValue,
} from '../../src/base/machinery/schema/index.js';
import { declaredTypes } from '../support/declared-types.js';
import { Random, testSeeds } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';

const objectsPerKind = 4;
const { kinds } = await declaredTypes();
const seeds = testSeeds('answers and their schemas');

const formats: Readonly<Record<string, (value: unknown) => boolean>> = {
  'date-time': (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value)),
  byte: (value) => Buffer.from(String(value), 'base64').toString('base64') === value,
  int32: (value) => Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31,
};

const isType: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** The differences between a value parsed from JSON and a schema of OpenAPI 3.0. */
class Checker {
  constructor(private readonly definitions: Readonly<Record<string, OpenApiSchema>>) {}

  faults(schema: OpenApiSchema, value: unknown, path: string): string[] {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.replace('#/components/schemas/', '');
      const definition = this.definitions[name];
      return definition === undefined ? [`${path}: ${name} is missing`] : this.faults(definition, value, path);
    }
    // A value that is always written and has no zero value is null when it is missing, which no schema expresses.
    if (value === null) return [];
    const faults = (schema.allOf ?? []).flatMap((part) => this.faults(part, value, path));
    const { oneOf, type, format } = schema;
    if (oneOf !== undefined && oneOf.filter((part) => this.faults(part, value, path).length === 0).length !== 1) {
      faults.push(`${path}: not one of ${oneOf.length}`);
    }
    if (type !== undefined && isType[type]?.(value) !== true) return [...faults, `${path}: no ${type}`];
    if (format !== undefined && formats[format]?.(value) === false) faults.push(`${path}: no ${format}`);
    if (Array.isArray(value)) {
      const { items } = schema;
      if (items !== undefined)
        value.forEach((item, i) => void faults.push(...this.faults(items, item, `${path}[${i}]`)));
    } else if (typeof value === 'object' && value !== null) {
      faults.push(...this.memberFaults(schema, value as Record<string, unknown>, path));
    }
    return faults;
  }

  private memberFaults(schema: OpenApiSchema, value: Record<string, unknown>, path: string): string[] {
    const { properties, additionalProperties, required = [] } = schema;
    const faults = required.filter((name) => !(name in value)).map((name) => `${path}.${name}: missing`);
    for (const [name, member] of Object.entries(value)) {
      const known = properties?.[name] ?? additionalProperties;
      if (known !== undefined) faults.push(...this.faults(known, member, `${path}.${name}`));
      else if (properties !== undefined) faults.push(`${path}.${name}: not declared`);
    }
    return faults;
  }
}

function checkerOf(type: KindType): (value: unknown) => string[] {
  const builder = new OpenApiBuilder({ version: 3, groupName: (group) => group, domain: 'example.com' });
  const schema = builder.reference(type);
  const checker = new Checker(builder.definitions);
  return (value) => checker.faults(schema, JSON.parse(JSON.stringify(value)), type.name);
}

describe('answers', () => {
  it('match their schemas, for every kind and version, with nothing given', () => {
    assert.ok(kinds.length > 150, String(kinds.length));
    // The server sends no list of objects without its items.
    const single = kinds.filter((type) => !jsonFields(type).has('items'));
    const faults = single.flatMap((type) => checkerOf(type)(zeroValue(type)));
    assert.deepEqual(faults, []);
  });

  it('match their schemas, for every kind and version, with any content', () => {
    const faults = new Set<string>();
    for (const seed of seeds) {
      const values = new RandomValues(new Random(seed));
      for (const type of kinds) {
        const check = checkerOf(type);
        for (let i = 0; i < objectsPerKind; i++) {
          for (const fault of check(decode(type, values.valueOf(type)).value)) faults.add(fault);
        }
      }
    }
    assert.deepEqual([...faults], []);
  });

  it('are found to be wrong when they are wrong', () => {
    const pod = kinds.find(({ name }) => name === 'core.v1.Pod') as KindType;
    const check = checkerOf(pod);
    assert.deepEqual(check({ metadata: { creationTimestamp: 1 }, spec: { containers: [{ name: 7 }] }, other: 1 }), [
      'core.v1.Pod.metadata.creationTimestamp: no string',
      'core.v1.Pod.spec.containers[0].name: no string',
      'core.v1.Pod.other: not declared',
    ]);
  });
});
