import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { toOpenApi } from './index.js';

const text: JSONSchemaProps = { type: 'string' };
const free: JSONSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true };
const head = {
  apiVersion: { description: 'APIVersion defines the version that the object is written in.', type: 'string' },
  kind: { description: 'Kind of the object.', type: 'string' },
  metadata: { $ref: 'meta' },
};

/** Undefined where the document equals the schema. Version 2 is what the reference publishes. */
const cases: readonly [schema: JSONSchemaProps, version2: unknown, version3?: unknown][] = [
  [
    { ...text, title: 'T', description: 'D', format: 'odd', pattern: 'a', minLength: 1, maxLength: 9, enum: ['a'] },
    undefined,
  ],
  [
    { type: 'integer', minimum: 0, maximum: 5, exclusiveMinimum: true, exclusiveMaximum: true, multipleOf: 2 },
    undefined,
  ],
  [{ type: 'object', properties: { q: text }, required: ['q'], minProperties: 1, maxProperties: 2 }, undefined],
  [{ type: 'object', additionalProperties: { type: 'array', items: text } }, undefined],
  [{ type: 'object', additionalProperties: true }, undefined],
  [{ type: 'object', additionalProperties: false }, undefined],
  [
    {
      type: 'array',
      items: { type: 'object', properties: { k: text }, required: ['k'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      maxItems: 4,
    },
    undefined,
  ],
  [{ type: 'object', 'x-kubernetes-map-type': 'atomic' }, undefined],
  [{ ...text, 'x-kubernetes-validations': [{ rule: 'self != ""' }] }, undefined],
  [{ ...text, default: 'x' }, { type: 'string' }],
  [{ ...text, default: '' }, { type: 'string' }],
  [{ type: 'boolean', default: false }, { type: 'boolean' }],
  [{ type: 'integer', default: 0 }, { type: 'integer' }],
  [{ ...text, format: '', title: '' }, { type: 'string' }, { type: 'string' }],
  [{ ...text, example: 'x', externalDocs: { url: 'u' }, id: 'x' }, { type: 'string' }, { type: 'string' }],
  [{ ...text, nullable: true }, {}],
  [{ type: 'object', nullable: true, properties: { q: text }, required: ['q'] }, { required: ['q'] }],
  [{ type: 'array', nullable: true, items: text }, {}],
  [{ type: 'object', nullable: true, additionalProperties: text }, { additionalProperties: { type: 'string' } }],
  [
    { type: 'array', items: { ...text, nullable: true } },
    { type: 'array', items: {} },
  ],
  [{ type: 'object', ...free, properties: { q: text } }, free],
  [{ ...free, nullable: true }, free],
  [
    { 'x-kubernetes-int-or-string': true, nullable: true },
    { 'x-kubernetes-int-or-string': true },
    { 'x-kubernetes-int-or-string': true, nullable: true, anyOf: [{ type: 'integer' }, text] },
  ],
  [
    { 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, text] }] },
    { 'x-kubernetes-int-or-string': true },
  ],
  [
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text], pattern: 'a' },
    { 'x-kubernetes-int-or-string': true, pattern: 'a' },
  ],
  [
    {
      type: 'object',
      properties: { x: text },
      allOf: [{ required: ['x'] }],
      anyOf: [{ required: ['x'] }],
      oneOf: [{ required: ['x'] }],
      not: { required: ['y'] },
    },
    { type: 'object', properties: { x: text } },
  ],
  [
    { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: text } },
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: text, ...head },
      required: ['apiVersion', 'kind'],
    },
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: text, ...head },
      required: ['apiVersion', 'kind'],
    },
  ],
  [
    { type: 'object', 'x-kubernetes-embedded-resource': true, ...free },
    { 'x-kubernetes-embedded-resource': true, ...free },
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      ...free,
      properties: head,
      required: ['apiVersion', 'kind'],
    },
  ],
];

describe('toOpenApi', () => {
  for (const [schema, version2, version3] of cases) {
    it(JSON.stringify(schema), () => {
      const before = JSON.stringify(schema);
      const objectMeta = { $ref: 'meta' };
      assert.deepEqual(toOpenApi(schema, { version: 2, objectMeta }), version2 ?? schema);
      assert.deepEqual(toOpenApi(schema, { version: 3, objectMeta }), version3 ?? schema);
      assert.equal(JSON.stringify(schema), before);
    });
  }
});
