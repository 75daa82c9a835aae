import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { atOnce } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { definitionSchemaErrors } from './index.js';

const text: JSONSchemaProps = { type: 'string' };
const integer: JSONSchemaProps = { type: 'integer' };
const free: JSONSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true };
const embedded: JSONSchemaProps = { type: 'object', 'x-kubernetes-embedded-resource': true };
const intOrString: JSONSchemaProps = { 'x-kubernetes-int-or-string': true };

function object(properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'object', properties, ...more };
}

function list(items: JSONSchemaProps, type?: string, ...keys: string[]): JSONSchemaProps {
  const schema: JSONSchemaProps = { type: 'array', items };
  if (type !== undefined) schema['x-kubernetes-list-type'] = type;
  if (keys.length > 0) schema['x-kubernetes-list-map-keys'] = keys;
  return schema;
}

function errorsOf(schema: JSONSchemaProps, hasStatus = false): string[] {
  const errors = atOnce(definitionSchemaErrors(schema, FieldPath.of('s'), { hasStatus }));
  return errors.map(({ type, field, message }) => `${type.replace('FieldValue', '')} ${field}: ${message}`);
}

/** The reference's errors for the same schemas, except for positions in lists and the way it prints values. */
const roots: readonly [schema: JSONSchemaProps, ...errors: string[]][] = [
  [object({})],
  [free],
  [object({ metadata: { type: 'object' }, kind: text, apiVersion: text })],
  [object({ metadata: object({ name: { ...text, pattern: '^a', maxLength: 3 }, generateName: text }) })],
  [text, 'Invalid s.type: Invalid value: "string": must be object at the root'],
  [{ properties: {} }, 'Required s.type: Required value: must not be empty at the root'],
  [{ type: 'object', nullable: true }, 'Forbidden s.nullable: Forbidden: nullable cannot be true at the root'],
  [
    { type: 'object', additionalProperties: text },
    'Forbidden s.additionalProperties: Forbidden: must not be used at the root',
  ],
  [
    object({ metadata: { type: 'object', description: 'x' } }),
    'Forbidden s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
  [
    object({ a: { items: text }, metadata: object({ x: text }) }, { type: '' }),
    'Required s.properties[a].type: Required value: must not be empty for specified object fields',
    'Forbidden s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    'Required s.type: Required value: must not be empty at the root',
  ],
  [
    object({ metadata: { type: 'object', default: {} }, kind: integer, apiVersion: { ...text, default: 'x' } }),
    'Forbidden s.properties[metadata].default: Forbidden: must not be set in top-level metadata',
    'Forbidden s.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion',
    'Invalid s.properties[kind].type: Invalid value: "integer": must be string',
  ],
  [
    object({ metadata: { properties: { name: text } } }),
    'Invalid s.properties[metadata].type: Invalid value: "": must be object',
    'Required s.properties[metadata].type: Required value: must not be empty for specified object fields',
  ],
  [
    object({ spec: object({}) }, { anyOf: [{ properties: { zz: { required: ['a'] } } }] }),
    'Required s.properties[zz]: Required value: because it is defined in s.anyOf[0].properties[zz]',
  ],
];

/** Schemas of a property `a`, with the errors reported for that property. */
const fields: readonly [schema: JSONSchemaProps, ...errors: string[]][] = [
  [text],
  [free],
  [list(free)],
  [intOrString],
  [{ ...text, 'x-kubernetes-int-or-string': true }],
  [{ type: 'object', additionalProperties: false }],
  [object({ x: text }, { additionalProperties: true })],
  [object({}, { required: ['z'] })],
  [{ ...integer, enum: ['x'] }],
  [{ ...text, maxLength: -1 }],
  [{}, 'Required .type: Required value: must not be empty for specified object fields'],
  [{ type: 'array' }, 'Required .items: Required value: must be specified'],
  [list({}), 'Required .items.type: Required value: must not be empty for specified array items'],
  [
    { type: 'object', additionalProperties: {} },
    'Required .additionalProperties.type: Required value: must not be empty for specified object fields',
  ],
  [
    object({ x: text }, { additionalProperties: text }),
    'Forbidden .additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
  ],
  [
    object({ x: text }, { additionalProperties: false }),
    'Forbidden .additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
  ],

  [{ type: 'object', id: 'x' }, 'Forbidden .id: Forbidden: id is not supported'],
  [{ type: 'object', $ref: 'x' }, 'Forbidden .$ref: Forbidden: $ref is not supported'],
  [
    { type: 'object', patternProperties: { a: text } },
    'Forbidden .patternProperties: Forbidden: patternProperties is not supported',
  ],
  [{ type: 'object', definitions: { a: text } }, 'Forbidden .definitions: Forbidden: definitions is not supported'],
  [{ type: 'object', dependencies: { a: ['b'] } }, 'Forbidden .dependencies: Forbidden: dependencies is not supported'],
  [
    { type: 'object', additionalItems: text },
    'Forbidden .additionalItems: Forbidden: additionalItems is not supported',
  ],
  [{ type: 'array', items: [text] }, 'Forbidden .items: Forbidden: items must be a schema object and not an array'],
  [list(text)],
  [
    { ...list(text), uniqueItems: true },
    'Forbidden .uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ],
  [
    { type: 'null' },
    'NotSupported .type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    'Forbidden .type: Forbidden: type cannot be set to null, use nullable as an alternative',
  ],
  [
    { type: 'odd' },
    'NotSupported .type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", "object", "string"',
  ],
  [
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    'Invalid .x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
  ],
  [
    { ...intOrString, ...free },
    'Invalid .x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
  ],
  [
    { ...intOrString, 'x-kubernetes-embedded-resource': true },
    'Required .properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    'Required .type: Required value: must be object if x-kubernetes-embedded-resource is true',
    'Invalid .x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
  ],

  [{ ...embedded, ...free }],
  [
    embedded,
    'Required .properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
  ],
  [
    { ...embedded, type: 'string', properties: { kind: integer, metadata: text } },
    'Invalid .properties[kind].type: Invalid value: "integer": must be string',
    'Invalid .properties[metadata].type: Invalid value: "string": must be object',
    'Invalid .type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  ],
  [
    { ...embedded, ...free, additionalProperties: text },
    'Forbidden .additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
  ],
  [
    { ...embedded, properties: { metadata: object({ labels: { ...embedded, ...free } }) } },
    'Forbidden .properties[metadata].properties[labels].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
  ],
  [{ ...embedded, properties: { metadata: object({ labels: { type: 'object', additionalProperties: text } }) } }],

  [object({ x: text }, { anyOf: [{ required: ['x'] }, { properties: { x: { minLength: 1 } } }] })],
  [object({}, { not: { properties: { z: { minLength: 1 } } } })],
  [
    object(
      {},
      {
        anyOf: [
          {
            type: 'object',
            additionalProperties: true,
            default: 5,
            title: 't',
            description: 'd',
            nullable: true,
            ...free,
            ...intOrString,
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-map-type': 'atomic',
            'x-kubernetes-validations': [{ rule: 'true' }],
            items: text,
            properties: { metadata: {}, y: { type: 'string', minLength: 1 } },
          },
        ],
      },
    ),
    'Forbidden .anyOf[0].additionalProperties: Forbidden: must be undefined to be structural',
    'Forbidden .anyOf[0].default: Forbidden: must be undefined to be structural',
    'Forbidden .anyOf[0].description: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[0].items.type: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[0].nullable: Forbidden: must be false to be structural',
    'Forbidden .anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
    'Forbidden .anyOf[0].properties[y].type: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[0].title: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[0].type: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[0].x-kubernetes-embedded-resource: Forbidden: must be false to be structural',
    'Forbidden .anyOf[0].x-kubernetes-int-or-string: Forbidden: must be false to be structural',
    'Forbidden .anyOf[0].x-kubernetes-map-type: Forbidden: must be undefined to be structural',
    'Forbidden .anyOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural',
    'Forbidden .anyOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural',
  ],
  [
    object({ x: text }, { oneOf: [{ properties: { x: { description: 'q' } } }] }),
    'Forbidden .oneOf[0].properties[x].description: Forbidden: must be empty to be structural',
  ],
  [{ ...intOrString, anyOf: [integer, text] }],
  [{ ...text, anyOf: [integer, text] }],
  [{ ...intOrString, allOf: [{ anyOf: [integer, text] }, { minimum: 1 }] }],
  [
    { ...intOrString, anyOf: [text, integer] },
    'Forbidden .anyOf[0].type: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[1].type: Forbidden: must be empty to be structural',
  ],
  [
    { ...intOrString, allOf: [{ minimum: 1 }, { anyOf: [integer, text] }] },
    'Forbidden .allOf[1].anyOf[0].type: Forbidden: must be empty to be structural',
    'Forbidden .allOf[1].anyOf[1].type: Forbidden: must be empty to be structural',
  ],
  [
    { ...intOrString, anyOf: [{ ...integer, minimum: 1 }, text] },
    'Forbidden .anyOf[0].type: Forbidden: must be empty to be structural',
    'Forbidden .anyOf[1].type: Forbidden: must be empty to be structural',
  ],

  [list(object({ k: text }, { required: ['k'] }), 'map', 'k')],
  [list(object({ k: { ...text, default: 'x' } }), 'map', 'k')],
  [list(text, 'set')],
  [list(intOrString, 'set')],
  [list(list(text, 'atomic'), 'set')],
  [list(list(text), 'set')],
  [list(object({}, { 'x-kubernetes-map-type': 'atomic' }), 'set')],
  [
    list(object({}), 'set'),
    'Invalid .items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
  [
    list({ ...text, nullable: true }, 'set'),
    'Forbidden .items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
  ],
  [
    { type: 'object', 'x-kubernetes-list-type': 'map' },
    'Invalid .type: Invalid value: "object": must be array if x-kubernetes-list-type is specified',
    'Required .x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    'Required .items: Required value: must have a schema if x-kubernetes-list-type is map',
  ],
  [
    list(text, 'odd'),
    'NotSupported .x-kubernetes-list-type: Unsupported value: "odd": supported values: "atomic", "set", "map"',
  ],
  [
    list(text, undefined, 'a'),
    'Required .x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
  ],
  [
    list(text, 'set', 'a'),
    'Invalid .x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty',
  ],
  [
    list(object({}), 'map'),
    'Required .x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
  ],
  [
    list(text, 'map', 'a'),
    `Invalid .items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
  ],
  [
    list(
      object({ a: text, o: object({}), n: { ...text, nullable: true, default: 'x' } }),
      'map',
      'a',
      'a',
      'o',
      'z',
      'n',
    ),
    'Invalid .x-kubernetes-list-map-keys: Invalid value: ["a","a","o","z","n"]: must not contain duplicate entries',
    `Invalid .items.properties[o].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    'Invalid .x-kubernetes-list-map-keys: Invalid value: ["a","a","o","z","n"]: entries must all be names of item properties',
    'Required .items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    'Required .items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    'Required .items.properties[o].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    'Forbidden .items.properties[n].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
  ],
  [
    { ...text, 'x-kubernetes-map-type': 'atomic' },
    'Invalid .type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
  ],
  [
    { type: 'object', 'x-kubernetes-map-type': 'odd' },
    'NotSupported .x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"',
  ],

  [{ ...text, pattern: '^(a|b)+$' }],
  [
    { ...text, pattern: '(' },
    `Invalid .pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
  ],
  [
    { ...text, anyOf: [{ pattern: '(?=a)' }] },
    `Invalid .anyOf[0].pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  ],

  [{ ...integer, default: 5 }],
  [object({ on: { type: 'boolean', default: true } }, { default: {} })],
  [{ ...text, nullable: true, default: 'x' }],
  [{ ...free, default: { q: 1 } }],
  [{ ...list(text, 'set'), default: ['a', 'a'] }],
  [{ type: 'object', additionalProperties: { ...integer, default: 'x' } }],
  [
    { ...text, default: 5 },
    'TypeInvalid .default: Invalid value: "integer":  in body must be of type string: "integer"',
  ],
  [
    { ...integer, maximum: 5, default: 10 },
    'Invalid .default: Invalid value: 10:  in body should be less than or equal to 5',
  ],
  [{ ...text, enum: ['a'], default: 'b' }, 'NotSupported .default: Unsupported value: "b": supported values: "a"'],
  [
    { ...text, format: 'date', default: 'x' },
    'TypeInvalid .default: Invalid value: "x":  in body must be of type date: "x"',
  ],
  [
    { ...list(text), default: [1] },
    'TypeInvalid .default[0]: Invalid value: "integer": [0] in body must be of type string: "integer"',
  ],
  [
    object({ x: text }, { default: { x: 'a', y: 1 } }),
    'Invalid .default: Invalid value: {"x":"a","y":1}: must not have unknown fields',
  ],
  [
    object({ x: integer }, { default: { x: 'a' } }),
    'TypeInvalid .default.x: Invalid value: "string": x in body must be of type integer: "string"',
  ],
  [
    object({ x: text }, { default: { x: null } }),
    'TypeInvalid .default.x: Invalid value: "null": x in body must be of type string: "null"',
  ],
  [object({ x: { ...text, default: 'q' } }, { required: ['x'], default: {} }), 'Required .default.x: Required value'],
  [
    object({}, { properties: { y: object({ x: text }, { default: { z: 1 } }) } }),
    'Invalid .properties[y].default: Invalid value: {"z":1}: must not have unknown fields',
  ],
  [{ ...embedded, ...free, default: { kind: 5 } }, 'Invalid .default.kind: Invalid value: 5: must be a string'],
  [{ ...embedded, ...free, default: { kind: 'X' } }, 'Required .default.apiVersion: Required value'],
  [
    { ...embedded, properties: { apiVersion: { ...text, default: 5 } } },
    'Invalid .properties[apiVersion].default: Invalid value: 5: must result in valid metadata: apiVersion: Invalid value: 5: must be a string',
  ],
  [{ ...embedded, properties: { metadata: { type: 'object', ...free, default: { name: 'ab' } } } }],
];

describe('definitionSchemaErrors', () => {
  for (const [schema, ...expected] of roots) {
    it(`at the root: ${JSON.stringify(schema)}`, () => assert.deepEqual(errorsOf(schema), expected));
  }
  for (const [schema, ...expected] of fields) {
    it(`of a field: ${JSON.stringify(schema)}`, () => {
      const found = errorsOf(object({ a: schema }));
      const full = expected.map((error) => error.replace(' .', ' s.properties[a].'));
      assert.deepEqual(found, full);
    });
  }

  it('refuses bad labels in defaults of embedded metadata', () => {
    const labels = { type: 'object', additionalProperties: text, default: { 'a b': 'c' } };
    const [error, ...more] = errorsOf(object({ a: { ...embedded, properties: { metadata: object({ labels }) } } }));
    assert.deepEqual(more, []);
    assert.match(
      error as string,
      /\.properties\[labels\]\.default: Invalid value: \{"a b":"c"\}: must result in valid metadata: metadata\.labels: Invalid value: "a b": name part/,
    );
  });

  const restricted: readonly [schema: JSONSchemaProps, error: RegExp | undefined][] = [
    [object({ spec: { ...free } }, { required: ['spec'], description: 'x', title: 'y', ...free }), undefined],
    [
      { type: 'object', anyOf: [{ required: ['spec'] }] },
      /^Invalid s: Invalid value: \{.*\}: only \[Description Type .*\] fields are allowed at the root of the schema if the status subresource is enabled$/,
    ],
    [{ type: 'object', maxProperties: 5 }, /only \[Description Type .* XPreserveUnknownFields XValidations\] fields/],
    [{ type: 'object', nullable: true }, /only \[/],
    [text, /^Invalid s\.type: Invalid value: "string": only "object" is allowed as the type at the root/],
  ];
  for (const [schema, expected] of restricted) {
    it(`with a status: ${JSON.stringify(schema)}`, () => {
      const [error] = errorsOf(schema, true);
      if (expected === undefined) assert.equal(error, undefined);
      else assert.match(error as string, expected);
    });
  }
});
