import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { definitionWarnings } from './definition-warnings.js';

function definition(schema: object): CustomResourceDefinition {
  return {
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
  } as unknown as CustomResourceDefinition;
}

test('formats that nobody checks are reported, once they are new', () => {
  const schema = {
    type: 'object',
    format: 'odd',
    properties: {
      a: { type: 'string', format: 'date-time' },
      b: { type: 'integer', format: 'double' },
      c: { type: 'array', items: { type: 'string', format: 'words' } },
    },
  };
  const warnings = ['odd', 'double', 'words'].map((format) => `unrecognized format "${format}"`);
  assert.deepEqual(definitionWarnings(definition(schema)), warnings);
  const before = definition({ type: 'object', format: 'odd' });
  assert.deepEqual(definitionWarnings(definition(schema), before), warnings.slice(1));
});

test('sets of lists and objects are reported', () => {
  const set = (type: string) => ({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type } });
  const schema = {
    type: 'object',
    properties: { a: set('object'), b: set('array'), c: set('string'), d: set('object') },
  };
  assert.deepEqual(
    definitionWarnings(definition(schema)),
    ['array', 'object'].map(
      (type) =>
        `x-kubernetes-list-type: set for items of type "${type}" is not supported by server-side apply or CEL validation rules`,
    ),
  );
});
