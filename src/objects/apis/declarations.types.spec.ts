import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  decode,
  type Field,
  type KindType,
  resolveType,
  type SchemaType,
  type StructType,
} from '../../base/machinery/schema/index.js';

const structs = new Map<string, StructType>();
const kinds: KindType[] = [];

for (const entry of readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })) {
  if (!entry.endsWith('.types.js')) continue;
  const module = (await import(join(import.meta.dirname, entry))) as Record<string, unknown>;
  for (const exported of Object.values(module)) {
    if (typeof exported === 'object' && exported !== null && 'type' in exported) collect(exported as SchemaType);
  }
}

function collect(type: SchemaType): void {
  const resolved = resolveType(type);
  if (resolved.type === 'list') collect(resolved.element);
  else if (resolved.type === 'map') collect(resolved.value);
  else if (resolved.type === 'variant') collect(resolved.struct);
  else if (resolved.type === 'struct') {
    const known = structs.get(resolved.name);
    assert.ok(known === undefined || known === resolved, `two types are named ${resolved.name}`);
    if (known !== undefined) return;
    structs.set(resolved.name, resolved);
    if (resolved.kind !== undefined) kinds.push(resolved as KindType);
    for (const field of resolved.fields) collect(field.type);
  }
}

function find(name: string): KindType {
  const found = kinds.find((kind) => kind.name === name);
  assert.ok(found, name);
  return found;
}

test('every kind says what it is, and so do its usual parts', () => {
  const silent = kinds.flatMap((kind) => [
    ...(kind.doc ? [] : [kind.name]),
    ...kind.fields
      .filter(({ name, doc }) => ['metadata', 'spec', 'status', 'items'].includes(name) && !doc)
      .map(({ name }) => `${kind.name}.${name}`),
  ]);
  assert.deepEqual(silent, []);
});

test('every protobuf number and name stands once in its struct', () => {
  assert.ok(structs.size > 600, String(structs.size));
  for (const struct of structs.values()) {
    const unique = (key: (field: Field) => unknown) => new Set(struct.fields.map(key)).size;
    assert.equal(
      unique((field) => field.number),
      struct.fields.length,
      struct.name,
    );
    assert.equal(
      unique((field) => field.protoName),
      struct.fields.length,
      struct.name,
    );
  }
});

test('keys of keyed lists and merge keys are fields of their elements', () => {
  for (const struct of structs.values()) {
    for (const field of struct.fields) {
      const keys = [...(field.listKeys ?? []), ...(field.patch?.key === undefined ? [] : [field.patch.key])];
      if (keys.length === 0) continue;
      assert.equal(field.type.type, 'list', `${struct.name}.${field.name}`);
      const element = resolveType((field.type as { element: SchemaType }).element);
      const names = (element as StructType).fields.flatMap((member) =>
        member.presence === 'inline' ? (member.type as StructType).fields : [member],
      );
      for (const key of keys)
        assert.ok(
          names.some((member) => member.name === key),
          `${struct.name}.${field.name}: ${key}`,
        );
    }
  }
});

test('the zero form of every kind decodes to itself', () => {
  for (const kind of kinds) {
    const zero = decode(kind, {}).value;
    const again = decode(kind, JSON.parse(JSON.stringify(zero)));
    assert.deepEqual(again, { value: zero, unknownFields: [] }, kind.name);
    assert.equal(JSON.stringify(again.value), JSON.stringify(zero), kind.name);
  }
});

test('every listed kind has its list', () => {
  for (const kind of kinds) {
    if (kind.kind.scope === undefined) continue;
    const isStored =
      kind.fields.some((field) => field.name === 'metadata') && kinds.some((k) => k.name === `${kind.name}List`);
    const isAction = /(Review|Eviction|Binding)$/.test(kind.kind.kind);
    assert.ok(isStored || isAction, kind.name);
  }
});

test('a deployment in canonical form', () => {
  const { value, unknownFields } = decode(find('apps.v1.Deployment'), {
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: {
          containers: [
            { image: 'i', name: 'c', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1000m' } } },
          ],
          volumes: [{ emptyDir: {}, name: 'v' }],
        },
      },
    },
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'd' },
  });
  assert.deepEqual(unknownFields, []);
  assert.equal(
    JSON.stringify(value),
    '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},' +
      '"spec":{"replicas":0,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{' +
      '"labels":{"app":"a"}},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"i",' +
      '"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}},"strategy":{}},"status":{}}',
  );
});

test('a custom resource definition keeps its schema', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'array', items: { type: 'string' } },
      b: { additionalProperties: false, default: { x: [null] } },
      c: { additionalProperties: { type: 'integer' }, 'x-kubernetes-int-or-string': true, enum: [1, null, 'x'] },
    },
  };
  const { value, unknownFields } = decode(find('apiextensions.v1.CustomResourceDefinition'), {
    spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }] },
  });
  assert.deepEqual(unknownFields, []);
  const { spec } = value as { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } };
  assert.deepEqual(spec.versions[0]?.schema.openAPIV3Schema, schema);
});
