import assert from 'node:assert/strict';
import { it } from 'node:test';
import protobuf from 'protobufjs/minimal.js';
import { LazyJson } from '../../../base/machinery/json/lazy-json.js';
import { atOnce } from '../../../base/machinery/turns.js';
import { openApi3Message, type Shape, swaggerMessage } from './document-messages.js';
import { encodeDocument } from './encode-document.js';

const encoded = (...document: Parameters<typeof encodeDocument>) => atOnce(encodeDocument(...document));

/** The values at a path of field numbers: text for the last length-delimited fields, numbers for others. */
function at(data: Uint8Array, path: readonly number[]): (string | number)[] {
  const [number, ...rest] = path;
  const found: (string | number)[] = [];
  const reader = protobuf.Reader.create(data);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 !== number) reader.skipType(tag & 7);
    else if ((tag & 7) === 0) found.push(reader.uint32());
    else if ((tag & 7) === 1) found.push(reader.double());
    else {
      const bytes = reader.bytes();
      if (rest.length > 0) found.push(...at(bytes, rest));
      else found.push(Buffer.from(bytes).toString());
    }
  }
  return found;
}

const operation = {
  tags: ['a', 'b'],
  description: 'text',
  operationId: 'readThing',
  'x-kubernetes-group-version-kind': { group: '', kind: 'Thing', version: 'v1' },
};

it('encodes a Swagger 2.0 document', () => {
  const schema = { $ref: '#/definitions/Thing' };
  const data = encoded(swaggerMessage, {
    swagger: '2.0',
    info: { title: 'T', version: 'v1' },
    paths: {
      '/things': {
        get: {
          ...operation,
          parameters: [
            { name: 'body', in: 'body', required: true, schema },
            { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
          ],
          responses: { 200: { description: 'OK', schema } },
        },
        parameters: [{ name: 'name', in: 'path', required: true, type: 'string' }],
      },
    },
    definitions: {
      Thing: {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'array', items: { type: 'string' } }, b: { type: 'integer', default: 7 } },
        'x-kubernetes-list-map-keys': ['x', 'y'],
      },
    },
    security: [{ BearerToken: [] }],
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  });
  const get = [8, 2, 2, 2];
  const expected: [readonly number[], (string | number)[]][] = [
    [[1], ['2.0']],
    [[2, 2], ['v1']],
    [[8, 2, 1], ['/things']],
    [
      [...get, 1],
      ['a', 'b'],
    ],
    [[...get, 5], ['readThing']],
    [[...get, 8, 1, 1, 2], ['body']],
    [[...get, 8, 1, 1, 4], [1]],
    [[...get, 8, 1, 1, 5, 1], ['#/definitions/Thing']],
    [[...get, 8, 1, 2, 3, 4], ['dryRun']],
    [[...get, 9, 1, 1], ['200']],
    [[...get, 9, 1, 2, 1, 2, 1, 1], ['#/definitions/Thing']],
    [[...get, 13, 1], ['x-kubernetes-group-version-kind']],
    [[...get, 13, 2, 2], ['{"group":"","kind":"Thing","version":"v1"}']],
    [[8, 2, 2, 9, 1, 2, 4, 4], ['name']],
    [[9, 1, 1], ['Thing']],
    [[9, 1, 2, 22, 1], ['object']],
    [[9, 1, 2, 19], ['a']],
    [
      [9, 1, 2, 25, 1, 1],
      ['a', 'b'],
    ],
    [[9, 1, 2, 25, 1, 2, 23, 1, 22, 1], ['string']],
    [[9, 1, 2, 25, 1, 2, 5, 2], ['7']],
    [[9, 1, 2, 31, 2, 2], ['["x","y"]']],
    [[12, 1, 1], ['BearerToken']],
    [[13, 1, 2, 2, 3], ['header']],
  ];
  for (const [path, values] of expected) assert.deepEqual(at(data, path), values, path.join('.'));
});

it('encodes an OpenAPI 3.0 document', () => {
  const schema = { $ref: '#/components/schemas/Thing' };
  const data = encoded(openApi3Message, {
    openapi: '3.0.0',
    paths: {
      '/things': {
        post: {
          ...operation,
          parameters: [{ name: 'dryRun', in: 'query', schema: { type: 'string', uniqueItems: true } }],
          requestBody: { content: { '*/*': { schema } }, required: true },
          responses: {
            201: { description: 'Created', content: { 'application/json': { schema: { anyOf: [schema] } } } },
            default: { $ref: '#/components/responses/Failure' },
          },
        },
      },
    },
    components: {
      responses: { Failure: { description: 'No', content: { 'application/json': { schema } } } },
      schemas: {
        Thing: {
          type: 'object',
          properties: {
            a: { allOf: [schema], default: 'TCP' },
            b: { oneOf: [{ type: 'string' }, { type: 'integer' }], default: 7 },
            c: { type: 'object', additionalProperties: schema },
          },
        },
      },
    },
  });
  const post = [4, 1, 2, 6];
  const properties = [5, 1, 1, 2, 1, 31, 1, 2, 1];
  const expected: [readonly number[], (string | number)[]][] = [
    [[1], ['3.0.0']],
    [[...post, 6, 1, 1], ['dryRun']],
    [[...post, 6, 1, 10, 1, 20], [1]],
    [[...post, 7, 1, 2, 1, 1], ['*/*']],
    [[...post, 7, 1, 2, 1, 2, 1, 2, 1], ['#/components/schemas/Thing']],
    [[...post, 7, 1, 3], [1]],
    [[...post, 8, 2, 1], ['201']],
    [[...post, 8, 2, 2, 1, 3, 1, 2, 1, 1, 28, 2, 1], ['#/components/schemas/Thing']],
    [[...post, 8, 1, 2, 1], ['#/components/responses/Failure']],
    [[5, 2, 1, 1], ['Failure']],
    [[5, 2, 1, 2, 1, 3, 1, 2, 1, 2, 1], ['#/components/schemas/Thing']],
    [[...post, 13, 2, 2], ['{"group":"","kind":"Thing","version":"v1"}']],
    [[...properties, 26, 2, 1], ['#/components/schemas/Thing']],
    [
      [...properties, 27, 1, 25],
      ['string', 'integer'],
    ],
    [[...properties, 33, 3], ['TCP']],
    [[...properties, 33, 1], [7]],
    [[...properties, 32, 1, 2, 1], ['#/components/schemas/Thing']],
  ];
  for (const [path, values] of expected) assert.deepEqual(at(data, path), values, path.join('.'));
});

it('refuses a member that it would lose', () => {
  const shape: Shape = { fields: { known: { number: 1, as: 'text' } } };
  assert.throws(() => encoded(shape, { known: 'a', other: 'b' }), TypeError);
});

/** Every keyword that the schema of a custom kind may have. */
const keywords = {
  title: 'T',
  description: 'D',
  format: 'int32',
  multipleOf: 0.5,
  maximum: 10.5,
  exclusiveMaximum: true,
  minimum: -3,
  exclusiveMinimum: true,
  maxLength: 5,
  minLength: 1,
  pattern: '^a$',
  maxItems: 7,
  minItems: 2,
  uniqueItems: true,
  maxProperties: 9,
  minProperties: 4,
  enum: ['a', 1, null],
  example: { a: 1 },
  externalDocs: { description: 'more', url: 'https://docs.example' },
  additionalProperties: false,
};

type Numbers = Readonly<Record<keyof typeof keywords, readonly number[]>>;

function checkKeywords(data: Uint8Array, schema: readonly number[], numbers: Numbers): void {
  const expected: Readonly<Record<keyof typeof keywords, (string | number)[]>> = {
    title: ['T'],
    description: ['D'],
    format: ['int32'],
    multipleOf: [0.5],
    maximum: [10.5],
    exclusiveMaximum: [1],
    minimum: [-3],
    exclusiveMinimum: [1],
    maxLength: [5],
    minLength: [1],
    pattern: ['^a$'],
    maxItems: [7],
    minItems: [2],
    uniqueItems: [1],
    maxProperties: [9],
    minProperties: [4],
    enum: ['"a"', '1', 'null'],
    example: ['{"a":1}'],
    externalDocs: ['https://docs.example'],
    additionalProperties: [0],
  };
  for (const [name, values] of Object.entries(expected)) {
    assert.deepEqual(at(data, [...schema, ...numbers[name as keyof Numbers]]), values, name);
  }
}

it('encodes every keyword of a schema in a Swagger 2.0 document', () => {
  const data = encoded(swaggerMessage, { definitions: { K: { ...keywords, default: { a: 1 } } } });
  const schema = [9, 1, 2];
  checkKeywords(data, schema, {
    title: [3],
    description: [4],
    format: [2],
    multipleOf: [6],
    maximum: [7],
    exclusiveMaximum: [8],
    minimum: [9],
    exclusiveMinimum: [10],
    maxLength: [11],
    minLength: [12],
    pattern: [13],
    maxItems: [14],
    minItems: [15],
    uniqueItems: [16],
    maxProperties: [17],
    minProperties: [18],
    enum: [20, 2],
    example: [30, 2],
    externalDocs: [29, 2],
    additionalProperties: [21, 2],
  });
  assert.deepEqual(at(data, [...schema, 5, 2]), ['{"a":1}']);
});

it('encodes every keyword of a schema in an OpenAPI 3.0 document', () => {
  const not = { type: 'string' };
  const data = encoded(openApi3Message, {
    components: { schemas: { K: { ...keywords, not, default: { a: 1 } }, L: { default: 'd' } } },
  });
  const schema = [5, 1, 1, 2, 1];
  checkKeywords(data, schema, {
    title: [9],
    description: [34],
    format: [35],
    multipleOf: [10],
    maximum: [11],
    exclusiveMaximum: [12],
    minimum: [13],
    exclusiveMinimum: [14],
    maxLength: [15],
    minLength: [16],
    pattern: [17],
    maxItems: [18],
    minItems: [19],
    uniqueItems: [20],
    maxProperties: [21],
    minProperties: [22],
    enum: [24, 2],
    example: [7, 2],
    externalDocs: [6, 2],
    additionalProperties: [32, 2],
  });
  assert.deepEqual(at(data, [...schema, 29, 25]), ['string']);
  // The message has fields for scalar defaults only.
  assert.deepEqual(at(data, [...schema, 33, 3]), ['d']);
});

it('encodes lazy schemas as if they were made at once', () => {
  const property = { type: 'object', properties: { a: { type: 'string' } }, items: { type: 'string' } };
  const lazy = {
    type: 'object',
    properties: new LazyJson(() => ({ a: new LazyJson(() => ({ type: 'string' })) })),
    items: new LazyJson(() => ({ type: 'string' })),
  };
  for (const [shape, place] of [
    [swaggerMessage, (schema: unknown) => ({ definitions: { K: { properties: { p: schema } } } })],
    [openApi3Message, (schema: unknown) => ({ components: { schemas: { K: { properties: { p: schema } } } } })],
  ] as const) {
    const made = encoded(shape, place(property));
    assert.ok(made.length > 20);
    assert.deepEqual(encoded(shape, place(new LazyJson(() => lazy))), made);
  }
});
