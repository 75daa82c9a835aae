import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  OpenApiBuilder,
  resolveType,
  type SchemaType,
  type StructType,
  versionlessName,
} from '../../../base/machinery/schema/index.js';
import { metaKinds } from '../meta/v1/meta-kinds.js';
import { fieldDescriptions } from './field-descriptions.js';

const structs = new Map<string, StructType>();
const variants = new Set<string>();
const folder = join(import.meta.dirname, '..');
for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!entry.endsWith('.types.js')) continue;
  const module = (await import(join(folder, entry))) as Record<string, unknown>;
  for (const exported of Object.values(module)) {
    if (typeof exported === 'object' && exported !== null && 'type' in exported) collect(exported as SchemaType);
  }
}

function collect(type: SchemaType): void {
  const resolved = resolveType(type);
  if (resolved.type === 'list') collect(resolved.element);
  else if (resolved.type === 'map') collect(resolved.value);
  else if (resolved.type === 'variant') {
    variants.add(resolved.name);
    collect(resolved.struct);
  } else if (resolved.type === 'struct' && !structs.has(resolved.name)) {
    structs.set(resolved.name, resolved);
    for (const field of resolved.fields) collect(field.type);
  }
}

test('every declared type and field has a text in OpenAPI documents of both versions', () => {
  assert.ok(structs.size > 600, String(structs.size));
  for (const version of [2, 3] as const) {
    const builder = new OpenApiBuilder({
      version,
      domain: 'example.org',
      groupName: (group) => group,
      descriptions: fieldDescriptions,
    });
    for (const struct of structs.values()) builder.reference(struct);
    const silent: string[] = [];
    for (const [name, { description, properties = {} }] of Object.entries(builder.definitions)) {
      if (!description) silent.push(name);
      for (const [field, schema] of Object.entries(properties)) {
        if (!schema.description) silent.push(`${name}.${field}`);
      }
    }
    assert.deepEqual(silent, []);
  }
});

test('every text is about a type or field that is there and has no text of its own', () => {
  const wanted = new Set([...variants].map((name) => `${versionlessName(name)}.`));
  for (const { name, doc, fields } of structs.values()) {
    const key = versionlessName(name);
    if (doc === undefined) wanted.add(`${key}.`);
    for (const field of fields) {
      if (field.doc === undefined && field.presence !== 'inline') wanted.add(`${key}.${field.name}`);
    }
  }
  const unused: string[] = [];
  for (const [type, descriptions] of Object.entries(fieldDescriptions)) {
    if (type === 'scalars') continue;
    for (const field of Object.keys(descriptions)) {
      if (!wanted.has(`${type}.${field}`)) unused.push(`${type}.${field}`);
    }
  }
  assert.deepEqual(unused, []);
});

test('descriptions are short sentences', () => {
  const odd: string[] = [];
  for (const [type, descriptions] of Object.entries(fieldDescriptions)) {
    for (const [field, text] of Object.entries(descriptions)) {
      if (!/^[^\s].{1,110}\.$/.test(text)) odd.push(`${type}.${field}: ${text}`);
    }
  }
  assert.deepEqual(odd, []);
});

test('what the endpoints load is the whole', () => {
  assert.equal(metaKinds.descriptions(), fieldDescriptions);
});

test('what is published beside the declarations is about types and fields of the release', () => {
  const { enumValues, requiredFields, unions } = metaKinds.published();
  const groups = new Set([...structs.keys()].map((name) => name.slice(0, name.indexOf('.'))));
  const declared = new Map<string, Set<string>>();
  for (const { name, fields } of structs.values()) {
    for (const key of [name, versionlessName(name)]) {
      const known = declared.get(key) ?? new Set();
      const addAll = (all: StructType['fields']): void => {
        for (const field of all) {
          if (field.presence === 'inline') addAll((field.type as StructType).fields);
          else known.add(field.name);
        }
      };
      addAll(fields);
      declared.set(key, known);
    }
  }
  const unknown: string[] = [];
  const check = (type: string, field: string) => {
    const fields = declared.get(type);
    if (fields !== undefined && !fields.has(field)) unknown.push(`${type}.${field}`);
    else if (fields === undefined && groups.has(type.slice(0, type.indexOf('.'))) && requiredFields[type])
      unknown.push(type);
  };
  for (const [type, fields] of Object.entries(enumValues)) for (const field of Object.keys(fields)) check(type, field);
  for (const [type, fields] of Object.entries(requiredFields)) for (const field of fields) check(type, field);
  for (const [type, { members, discriminator }] of Object.entries(unions)) {
    for (const field of [...members, ...(discriminator === undefined ? [] : [discriminator])]) check(type, field);
  }
  assert.deepEqual(unknown, []);
});
