import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { structuralSchema, validateValue } from './index.js';

/** What messages about the range of a number begin with. */
const checked = 'Invalid <nil>: Invalid value: "": Checked value must be of type';
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
const intOrString: JSONSchemaProps = { 'x-kubernetes-int-or-string': true };
const choice: JSONSchemaProps = object(
  { a: text, b: integer },
  { anyOf: [{ required: ['a'] }, { required: ['b'], properties: { b: { minimum: 5 } } }] },
);

/** Schemas of the field `x`, each with a value as JSON and the expected errors. */
type Case = readonly [schema: JSONSchemaProps, value: string, ...errors: string[]];
const cases: readonly Case[] = [
  [integer, '5'],
  [integer, '-0'],
  [integer, '1.0'],
  [integer, '1e3'],
  [integer, '9223372036854775807'],
  [
    integer,
    '9223372036854775808',
    'TypeInvalid x: Invalid value: "number": x in body must be of type integer: "number"',
    `${checked} integer (default format) in x`,
  ],
  [
    integer,
    '1e16',
    'TypeInvalid x: Invalid value: "number": x in body must be of type integer: "number"',
    `${checked} integer (default format) in x`,
  ],
  [
    integer,
    '1.5',
    'TypeInvalid x: Invalid value: "number": x in body must be of type integer: "number"',
    `${checked} integer (default format) in x`,
  ],
  [integer, '"three"', 'TypeInvalid x: Invalid value: "string": x in body must be of type integer: "string"'],
  [integer, 'true', 'TypeInvalid x: Invalid value: "boolean": x in body must be of type integer: "boolean"'],
  [integer, 'null', 'TypeInvalid x: Invalid value: "null": x in body must be of type integer: "null"'],
  [{ ...integer, nullable: true }, 'null'],
  [{ ...integer, format: 'int32' }, '2147483647'],
  [{ ...integer, format: 'int32' }, '-2147483648'],
  [{ ...integer, format: 'int32' }, '2147483648', `${checked} integer with format int32 in x`],
  [{ ...integer, format: 'int32' }, '-2147483649', `${checked} integer with format int32 in x`],
  [{ ...integer, format: 'int64' }, '9223372036854775807'],
  ...['int32', 'int64'].map(
    (format): Case => [
      { ...integer, format },
      '1.5',
      `TypeInvalid x: Invalid value: "float64": x in body must be of type ${format}: "float64"`,
      `${checked} integer with format ${format} in x`,
    ],
  ),
  [{ ...integer, format: 'int32' }, 'true', 'TypeInvalid x: Invalid value: "": x in body must be of type int32: ""'],
  [
    { ...integer, multipleOf: 3 },
    '4.5',
    'TypeInvalid x: Invalid value: "number": x in body must be of type integer: "number"',
    `${checked} integer (default format) in x`,
    'Invalid x: Invalid value: 4.5: x in body should be a multiple of 3',
  ],
  // As on the reference, only integers have 32 bits by their format, and only other numbers the range of a float.
  [{ type: 'number', format: 'int32' }, '3000000000'],
  [{ ...integer, format: 'float' }, '9223372036854775807'],
  [{ type: 'number', format: 'float' }, '3.4028234663852886e38'],
  [{ type: 'number', format: 'float' }, '3.5e38', `${checked} number with format float in x`],
  [{ type: 'number', format: 'float' }, '-3.5e38', `${checked} number with format float in x`],
  [{ type: 'number', format: 'double' }, '3.5e38'],
  [{ type: 'number' }, '5'],
  [{ type: 'number' }, '1.5e300'],
  [{ type: 'number' }, '"1"', 'TypeInvalid x: Invalid value: "string": x in body must be of type number: "string"'],
  [{ type: 'boolean' }, 'false'],
  [{ type: 'boolean' }, '0', 'TypeInvalid x: Invalid value: "integer": x in body must be of type boolean: "integer"'],
  [object({}), '[]', 'TypeInvalid x: Invalid value: "array": x in body must be of type object: "array"'],
  [
    { type: 'array', items: text },
    '{}',
    'TypeInvalid x: Invalid value: "object": x in body must be of type array: "object"',
  ],
  [free, 'null'],
  [free, '{"a":[1]}'],

  [{ ...integer, minimum: 1, maximum: 10 }, '1'],
  [
    { ...integer, minimum: 1, maximum: 10 },
    '50',
    'Invalid x: Invalid value: 50: x in body should be less than or equal to 10',
  ],
  [{ ...integer, minimum: 1 }, '0', 'Invalid x: Invalid value: 0: x in body should be greater than or equal to 1'],
  [
    { ...integer, minimum: 1, exclusiveMinimum: true },
    '1',
    'Invalid x: Invalid value: 1: x in body should be greater than 1',
  ],
  [
    { ...integer, maximum: 5000000, exclusiveMaximum: true },
    '5000000',
    'Invalid x: Invalid value: 5000000: x in body should be less than 5000000',
  ],
  [
    { type: 'number', maximum: 5000000 },
    '5000000.5',
    'Invalid x: Invalid value: 5000000.5: x in body should be less than or equal to 5e+06',
  ],
  [{ ...integer, maximum: 9007199254740992 }, '9007199254740992'],
  [
    { ...integer, maximum: 9007199254740992 },
    '9007199254740993',
    'Invalid x: Invalid value: 9007199254740993: x in body should be less than or equal to 9007199254740992',
  ],
  [{ ...integer, multipleOf: 3 }, '9'],
  [{ ...integer, multipleOf: 3 }, '4', 'Invalid x: Invalid value: 4: x in body should be a multiple of 3'],
  [{ ...integer, multipleOf: 3 }, '9007199254740993'],
  [{ type: 'number', multipleOf: 0.5 }, '1.5'],
  [{ type: 'number', multipleOf: 0.01 }, '4.35'],
  [{ type: 'number', multipleOf: 0.5 }, '1.3', 'Invalid x: Invalid value: 1.3: x in body should be a multiple of 0.5'],
  [{ type: 'number', multipleOf: 0.5 }, '2'],

  [{ ...text, minLength: 2, maxLength: 3 }, '"abc"'],
  [{ ...text, minLength: 2, maxLength: 3 }, '"😀😀"'],
  [{ ...text, maxLength: 3 }, '"😀😀😀"'],
  [{ ...text, minLength: 2 }, '"😀"', 'Invalid x: Invalid value: "😀": x in body should be at least 2 chars long'],
  [{ ...text, maxLength: 3 }, '"éééé"', 'TooLong x: Too long: may not be more than 3 bytes'],
  [{ ...text, pattern: '^[a-z]+$' }, '"abc"'],
  [{ ...text, pattern: 'b' }, '"abc"'],
  [{ ...text, pattern: '^[a-z]+$' }, '"UPPER"', `Invalid x: Invalid value: "UPPER": x in body should match '^[a-z]+$'`],
  [{ ...text, enum: ['a', 'b'] }, '"b"'],
  [{ ...text, enum: ['a', 'b'] }, '"c"', 'NotSupported x: Unsupported value: "c": supported values: "a", "b"'],
  [
    { ...text, enum: ['a'] },
    '5',
    'TypeInvalid x: Invalid value: "integer": x in body must be of type string: "integer"',
    'NotSupported x: Unsupported value: 5: supported values: "a"',
  ],
  [
    { ...text, nullable: true, enum: ['a'] },
    'null',
    'NotSupported x: Unsupported value: "null": supported values: "a"',
  ],
  [{ ...text, nullable: true, enum: ['a', null] }, 'null'],
  [{ type: 'number', enum: [1, 2.5] }, '1.0'],
  [{ type: 'number', enum: [1, 2.5] }, '3', 'NotSupported x: Unsupported value: 3: supported values: "1", "2.5"'],
  [{ ...free, enum: [{ a: [1], b: 2 }] }, '{"b":2,"a":[1]}'],
  [
    { ...free, enum: [{ a: 1 }] },
    '{"a":2}',
    'NotSupported x: Unsupported value: {"a":2}: supported values: "{\\"a\\":1}"',
  ],

  [{ ...text, format: 'date' }, '"2020-02-29"'],
  [
    { ...text, format: 'date-time' },
    '"today"',
    'TypeInvalid x: Invalid value: "today": x in body must be of type date-time: "today"',
  ],
  [{ ...text, format: 'date' }, '5', 'TypeInvalid x: Invalid value: "int64": x in body must be of type date: "int64"'],
  [
    { ...text, format: 'date' },
    '1.5',
    'TypeInvalid x: Invalid value: "float64": x in body must be of type date: "float64"',
  ],
  [{ ...text, format: 'date' }, 'true', 'TypeInvalid x: Invalid value: "": x in body must be of type date: ""'],
  [
    { ...text, format: 'date' },
    'null',
    'TypeInvalid x: Invalid value: "null": x in body must be of type string: "null"',
  ],
  [
    { ...text, format: 'no-such' },
    '5',
    'TypeInvalid x: Invalid value: "integer": x in body must be of type string: "integer"',
  ],
  [{ ...text, format: 'no-such' }, '"x"'],

  [
    { type: 'array', items: text, minItems: 2 },
    '["a"]',
    'Invalid x: Invalid value: 1: x in body should have at least 2 items',
  ],
  [{ type: 'array', items: text, maxItems: 2 }, '["a","b","c"]', 'TooMany x: Too many: 3: must have at most 2 items'],
  [
    { type: 'array', items: object({ a: { ...integer, maximum: 10 } }) },
    '[{"a":50},{"a":"x"},null]',
    'Invalid x[0].a: Invalid value: 50: x[0].a in body should be less than or equal to 10',
    'TypeInvalid x[1].a: Invalid value: "string": x[1].a in body must be of type integer: "string"',
    'TypeInvalid x[2]: Invalid value: "null": x[2] in body must be of type object: "null"',
  ],
  [object({ a: text, b: text }, { required: ['a', 'b'] }), '{"b":"x"}', 'Required x.a: Required value'],
  [
    { type: 'object', additionalProperties: integer, minProperties: 1 },
    '{}',
    'Invalid x: Invalid value: 0: x in body should have at least 1 properties',
  ],
  [
    { type: 'object', additionalProperties: integer, maxProperties: 1 },
    '{"a":1,"b":2}',
    'TooMany x: Too many: 2: must have at most 1 items',
  ],
  [
    { type: 'object', additionalProperties: integer },
    '{"a":"x"}',
    'TypeInvalid x.a: Invalid value: "string": x.a in body must be of type integer: "string"',
  ],
  [{ type: 'object', additionalProperties: true }, '{"a":"x"}'],
  [
    { type: 'object', additionalProperties: false },
    '{"a":"x"}',
    'Invalid x: Invalid value: "a": x.a in body is a forbidden property',
  ],

  [intOrString, '"5"'],
  [intOrString, '5'],
  [intOrString, 'true', 'TypeInvalid x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"'],
  [intOrString, '1.5', 'TypeInvalid x: Invalid value: "number": x in body must be of type integer,string: "number"'],
  [intOrString, 'null', 'TypeInvalid x: Invalid value: "null": x in body must be of type integer,string: "null"'],
  [{ ...intOrString, nullable: true }, 'null'],
  [{ ...intOrString, anyOf: [integer, text], pattern: '^a' }, '5'],
  [
    { ...intOrString, anyOf: [integer, text] },
    'true',
    'TypeInvalid x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"',
    'Invalid <nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
    'TypeInvalid x: Invalid value: "boolean": x in body must be of type integer: "boolean"',
  ],
  [
    { ...intOrString, allOf: [{ anyOf: [integer, text] }, { pattern: '^a' }] },
    '"b"',
    `Invalid x: Invalid value: "b": x in body should match '^a'`,
    'Invalid <nil>: Invalid value: "": "x" must validate all the schemas (allOf)',
  ],

  [choice, '{"a":"x"}'],
  [choice, '{"b":5}'],
  [
    choice,
    '{}',
    'Invalid <nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
    'Required x.a: Required value',
  ],
  [
    object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    '{"a":"x","b":"y"}',
    'Invalid <nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  [
    object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    '{}',
    'Invalid <nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid',
    'Required x.a: Required value',
  ],
  [
    { ...integer, allOf: [{ minimum: 5 }, { maximum: 3 }] },
    '4',
    'Invalid x: Invalid value: 4: x in body should be greater than or equal to 5',
    'Invalid x: Invalid value: 4: x in body should be less than or equal to 3',
    'Invalid <nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated',
  ],
  [
    object({ a: text, b: text }, { not: { required: ['a', 'b'] } }),
    '{"a":"x","b":"y"}',
    'Invalid <nil>: Invalid value: "": "x" must not validate the schema (not)',
  ],
  [
    object({ l: { type: 'array', items: text } }, { allOf: [{ properties: { l: { items: { minLength: 2 } } } }] }),
    '{"l":["ab","c"]}',
    'Invalid x.l[1]: Invalid value: "c": x.l[1] in body should be at least 2 chars long',
    'Invalid <nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated',
  ],

  [{ type: 'array', items: text, 'x-kubernetes-list-type': 'set' }, '["a","b"]'],
  [
    { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    '["a","b","a","a","b"]',
    'Duplicate x[2]: Duplicate value: "a"',
    'Duplicate x[4]: Duplicate value: "b"',
  ],
  [{ type: 'array', items: intOrString, 'x-kubernetes-list-type': 'set' }, '[1,"1"]'],
  [
    { type: 'array', items: { type: 'number' }, 'x-kubernetes-list-type': 'set' },
    '[1,1.0]',
    'Duplicate x[1]: Duplicate value: 1.0',
  ],
  [
    {
      type: 'array',
      items: object({ k: text }, { 'x-kubernetes-map-type': 'atomic' }),
      'x-kubernetes-list-type': 'set',
    },
    '[{"k":"a"},{},{"k":"a"}]',
    'Duplicate x[2]: Duplicate value: {"k":"a"}',
  ],
  [listMap, '[{"k":"a"},{"k":"a","p":"UDP"},{"k":"b"}]'],
  [listMap, '[{"k":"a"},{"k":"a","p":"TCP"}]', 'Duplicate x[1]: Duplicate value: {"k":"a","p":"TCP"}'],
  [
    {
      type: 'array',
      items: object({ ['__proto__']: text }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['__proto__'],
    },
    '[{"__proto__":"a"},{"__proto__":"a"}]',
    'Duplicate x[1]: Duplicate value: {"__proto__":"a"}',
  ],
  [
    listMap,
    '[{},{}]',
    'Required x[0].k: Required value',
    'Required x[1].k: Required value',
    'Duplicate x[1]: Duplicate value: {"p":"TCP"}',
  ],
  [{ ...listMap, 'x-kubernetes-list-map-keys': ['k'], items: object({ k: intOrString }) }, '[{"k":5},{"k":"5"}]'],
  [
    { ...listMap, 'x-kubernetes-list-map-keys': ['k'], items: object({ k: intOrString }) },
    '[{"k":5},{"k":"\\u00005"}]',
  ],
  [
    { ...listMap, 'x-kubernetes-list-map-keys': ['k'], items: object({ k: intOrString }) },
    '[{"k":"\\u00005"},{"k":5},{"k":"\\u00005"}]',
    'Duplicate x[2]: Duplicate value: {"k":"\\u00005"}',
  ],
  [
    { ...listMap, 'x-kubernetes-list-map-keys': ['k'] },
    '[{"k":"a"},5]',
    'TypeInvalid x[1]: Invalid value: "integer": x[1] in body must be of type object: "integer"',
    'Invalid x[1]: Invalid value: 5: must be an object for an array of list-type map',
  ],
];

describe('validateValue', () => {
  for (const [schema, value, ...expected] of cases) {
    it(`${expected.length === 0 ? 'accepts' : 'refuses'} ${value} for ${JSON.stringify(schema)}`, () => {
      const errors = errorsOf(object({ x: schema }), parseJson(`{"x":${value}}`));
      assert.deepEqual(errors, expected);
    });
  }

  it('names the place of a part', () => {
    const schema = structuralSchema(object({ x: integer }));
    const path = FieldPath.of('spec', 'a').child('default');
    const [error] = validateValue(schema, { x: 'y' }, path);
    assert.equal(error?.field, 'spec.a.default.x');
    assert.equal(error?.message, 'Invalid value: "string": x in body must be of type integer: "string"');
    const [whole] = validateValue(schema, 5, path);
    assert.equal(whole?.field, 'spec.a.default');
    assert.equal(whole?.message, 'Invalid value: "integer":  in body must be of type object: "integer"');
  });
});
