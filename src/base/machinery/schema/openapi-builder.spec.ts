import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  always,
  inline,
  int32,
  intOrString,
  kind,
  lazy,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  quantity,
  required,
  type StructType,
  string,
  struct,
} from './index.js';
import { OpenApiBuilder, type OpenApiSchema } from './openapi-builder.js';

interface Node {
  next?: Node;
}
const node: StructType<Node> = struct('test.v1.Node', {
  next: pointer(
    1,
    lazy<Node>(() => node),
  ),
});
const key = struct('test.v1.Key', { port: required(1, intOrString) }, { mapType: 'atomic' });
const thing = kind(
  { group: 'test', version: 'v1', kind: 'Thing', scope: 'Namespaced' },
  {
    embedded: inline(9, struct('test.v1.Embedded', { size: required(1, int32) })),
    key: always(1, key, { patch: { strategy: 'merge', retainKeys: true } }),
    parts: optional(2, list(key), mergedBy('port')),
    names: optional(3, list(string)),
    limits: optional(4, map(quantity), { mapType: 'atomic', doc: 'Limits.' }),
    node: pointer(5, node),
    protocol: optional(6, string, { default: 'TCP' }),
  },
);

function build(version: 2 | 3) {
  const builder = new OpenApiBuilder({ version, domain: 'example.dev', groupName: (group) => `${group}.example.dev` });
  return { builder, root: builder.reference(thing) };
}

test('version 2 definitions', () => {
  const { builder, root } = build(2);
  assert.deepEqual(root, { $ref: '#/definitions/dev.example.api.test.v1.Thing' });
  const keyRef = { $ref: '#/definitions/dev.example.api.test.v1.Key' };
  const expected: OpenApiSchema = {
    type: 'object',
    properties: {
      apiVersion: { description: 'APIVersion defines the version that the object is written in.', type: 'string' },
      kind: { description: 'Kind of the object.', type: 'string' },
      size: { type: 'integer', format: 'int32' },
      key: { ...keyRef, 'x-kubernetes-patch-strategy': 'retainKeys' },
      parts: {
        type: 'array',
        items: keyRef,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port'],
        'x-kubernetes-patch-strategy': 'merge',
        'x-kubernetes-patch-merge-key': 'port',
      },
      names: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
      limits: {
        type: 'object',
        additionalProperties: { $ref: '#/definitions/dev.example.apimachinery.pkg.api.resource.Quantity' },
        description: 'Limits.',
        'x-kubernetes-map-type': 'atomic',
      },
      node: { $ref: '#/definitions/dev.example.api.test.v1.Node' },
      protocol: { type: 'string' },
    },
    required: ['size'],
    'x-kubernetes-group-version-kind': [{ group: 'test.example.dev', kind: 'Thing', version: 'v1' }],
  };
  assert.deepEqual(builder.definitions['dev.example.api.test.v1.Thing'], expected);
  assert.deepEqual(builder.definitions['dev.example.api.test.v1.Key'], {
    type: 'object',
    properties: { port: { $ref: '#/definitions/dev.example.apimachinery.pkg.util.intstr.IntOrString' } },
    required: ['port'],
    'x-kubernetes-map-type': 'atomic',
  });
  assert.deepEqual(builder.definitions['dev.example.api.test.v1.Node'], {
    type: 'object',
    properties: { next: { $ref: '#/definitions/dev.example.api.test.v1.Node' } },
  });
});

test('a number or string is a text with a format in version 2, which cannot express both', () => {
  const { builder } = build(2);
  assert.deepEqual(builder.definitions['dev.example.apimachinery.pkg.util.intstr.IntOrString'], {
    type: 'string',
    format: 'int-or-string',
  });
});

test('values, required fields, unions and groups that a release publishes complete the declarations', () => {
  const published = {
    enumValues: { 'test.Thing': { protocol: 'TCP|UDP', names: 'a||b c' }, 'test.v2.Thing': { protocol: 'no' } },
    requiredFields: { 'test.v1.Thing': ['node'], 'test.v1.Key': [] },
    unions: { 'test.v1.Thing': { members: ['node'], discriminator: 'protocol' } },
    optionGroups: { '': 'v1', test: 'v1 v2' },
  };
  const options = kind({ group: '', version: 'v1', kind: 'DeleteOptions' }, {}, { name: 'meta.v1.DeleteOptions' });
  for (const version of [2, 3] as const) {
    const builder = new OpenApiBuilder({ version, domain: 'example.dev', groupName: (group) => group, published });
    builder.reference(thing);
    builder.reference(options);
    const schema = builder.definitions['dev.example.api.test.v1.Thing'];
    assert.deepEqual(schema?.properties?.protocol?.enum, ['TCP', 'UDP']);
    assert.deepEqual(schema?.properties?.names?.items, { type: 'string', enum: ['a', '', 'b c'] });
    assert.deepEqual(schema?.required, ['node']);
    assert.equal(builder.definitions['dev.example.api.test.v1.Key']?.required, undefined);
    assert.deepEqual(schema?.['x-kubernetes-unions'], [
      { discriminator: 'protocol', 'fields-to-discriminateBy': { node: 'Node' } },
    ]);
    const one = { group: '', kind: 'DeleteOptions', version: 'v1' };
    const others = ['v1', 'v2'].map((each) => ({ group: 'test', kind: 'DeleteOptions', version: each }));
    assert.deepEqual(
      builder.definitions['dev.example.apimachinery.pkg.apis.meta.v1.DeleteOptions']?.[
        'x-kubernetes-group-version-kind'
      ],
      version === 2 ? [one, ...others] : [one],
    );
  }
});

test('version 3 shows the zero values of fields that are always written', () => {
  const { builder } = build(3);
  const { properties = {} } = builder.definitions['dev.example.api.test.v1.Thing'] as OpenApiSchema;
  const defaults = Object.entries(properties).flatMap(([name, schema]) => {
    return schema.default === undefined ? [] : [[name, schema.default]];
  });
  assert.deepEqual(Object.fromEntries(defaults), { size: 0, key: {}, protocol: 'TCP' });
});

test('version 3 keeps members beside a reference apart and every reference has its definition', () => {
  const { builder } = build(3);
  const schema = builder.definitions['dev.example.api.test.v1.Thing'];
  assert.deepEqual(schema?.properties?.key, {
    allOf: [{ $ref: '#/components/schemas/dev.example.api.test.v1.Key' }],
    default: {},
    'x-kubernetes-patch-strategy': 'retainKeys',
  });
  assert.deepEqual(builder.definitions['dev.example.apimachinery.pkg.util.intstr.IntOrString'], {
    oneOf: [{ type: 'integer' }, { type: 'string' }],
    format: 'int-or-string',
  });
  const text = JSON.stringify(builder.definitions);
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    assert.ok(name !== undefined && builder.definitions[name] !== undefined, `no definition of ${name}`);
  }
});

test('descriptions stand in for those that declarations lack, in every version and for inline fields too', () => {
  const builder = new OpenApiBuilder({
    version: 3,
    domain: 'example.dev',
    groupName: (group) => group,
    descriptions: {
      scalars: { quantity: 'A number.' },
      'test.Thing': { '': 'A thing.', limits: 'Not used.', names: 'Its names.', size: 'Not used.', node: 'A node.' },
      'test.Embedded': { size: 'Its size.' },
    },
  });
  const other = kind({ group: 'test', version: 'v2', kind: 'Thing' }, { names: optional(1, list(string)) });
  builder.reference(thing);
  builder.reference(other);
  const { description, properties = {} } = builder.definitions['dev.example.api.test.v1.Thing'] as OpenApiSchema;
  assert.equal(description, 'A thing.');
  assert.equal(properties.limits?.description, 'Limits.');
  assert.equal(properties.names?.description, 'Its names.');
  assert.equal(properties.size?.description, 'Its size.');
  assert.equal(properties.protocol?.description, undefined);
  assert.deepEqual(properties.node, {
    allOf: [{ $ref: '#/components/schemas/dev.example.api.test.v1.Node' }],
    description: 'A node.',
  });
  assert.equal(builder.definitions['dev.example.api.test.v2.Thing']?.properties?.names?.description, 'Its names.');
  assert.equal(builder.definitions['dev.example.apimachinery.pkg.api.resource.Quantity']?.description, 'A number.');
});
