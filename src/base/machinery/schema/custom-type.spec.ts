import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimedPaths, compareObjects, formFaults, rootView } from '../field-set/index.js';
import {
  always,
  type CustomForm,
  type CustomOwnership,
  type CustomType,
  DecodeError,
  decode,
  type Field,
  type KindType,
  kind,
  map,
  OpenApiBuilder,
  optional,
  string,
  struct,
} from './index.js';
import { decodeProtobuf } from './protobuf/decode-protobuf.js';

const meta = struct('meta.v1.ObjectMeta', { name: optional(1, string), labels: optional(11, map(string)) });
const base = kind({ group: 'dev.example', version: 'v1', kind: 'Widget' }, { metadata: always(1, meta) });

/** Drops all members but `known`. */
function known(input: unknown, onUnknown: (path: string) => void, path = ''): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const output: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (name === 'known') output[name] = value;
    else onUnknown(`${path}${name}`);
  }
  return output;
}

function formOf(ownership: CustomOwnership): CustomForm {
  return {
    decode: (input, onUnknown) => known(input, onUnknown),
    ownership: () => ownership,
    shape: () => ({ kind: 'any' }),
    openApi: (version) => ({ type: 'object', description: `in ${version}` }),
    column: 'jsonb',
  };
}

function widget(fields: Readonly<Record<string, CustomForm>>, others?: CustomOwnership): KindType {
  const made = Object.entries(fields).map(([name, form]): Field => {
    const type = { type: 'custom', form } as CustomType;
    return { ...(base.fields[0] as Field), name, type, presence: 'pointer', nullable: true, doc: undefined };
  });
  return {
    ...base,
    name: 'dev.example.v1.Widget',
    fields: [...base.fields, ...made],
    custom: {
      published: () => undefined,
      decode: (input, onUnknown) => {
        const output = new Map<string, unknown>();
        for (const name of Object.keys(input).sort()) {
          if (name === 'kind' || name === 'metadata' || name === 'apiVersion') continue;
          if (Object.hasOwn(fields, name)) output.set(name, known(input[name], onUnknown, `${name}.`));
          else if (others !== undefined) output.set(name, input[name]);
          else onUnknown(name);
        }
        return Object.fromEntries(output);
      },
      others,
      openApi: () => ({ description: 'A widget.', required: ['spec'] }),
      publishesFields: (version) => version === 3,
    },
  };
}

const leaf: CustomOwnership = { kind: 'leaf', expected: 'string' };
function declared(fields: readonly (readonly [string, CustomOwnership])[]) {
  const map = new Map(fields);
  return (name: string) => map.get(name);
}

const open: CustomOwnership = {
  kind: 'object',
  field: declared([
    ['known', leaf],
    ['items', { kind: 'keyed' as const, element: { kind: 'map', value: leaf }, keys: [{ name: 'a', default: 'x' }] }],
  ]),
  others: { kind: 'any' },
};
const closed: CustomOwnership = { kind: 'object', field: declared([['known', leaf]]), others: undefined };
const type = widget({ spec: formOf(closed), status: formOf(closed) });

describe('custom kinds', () => {
  it('drop unknown fields and tell their paths', () => {
    const input = { zebra: 1, spec: { known: 1, other: 2 }, metadata: { name: 'a', foo: 1 }, kind: 'Widget' };
    const { value, unknownFields } = decode(type, input);
    assert.deepEqual(value, { kind: 'Widget', metadata: { name: 'a' }, spec: { known: 1 } });
    assert.deepEqual(unknownFields, ['metadata.foo', 'spec.other', 'zebra']);
    assert.deepEqual(decode(type, { spec: { known: 1 } }).unknownFields, []);
  });

  it('keep nulls and wrong forms for validation, and sort their fields', () => {
    const { value } = decode(type, { status: 'text', spec: null, metadata: { name: 'a' }, apiVersion: 'v1' });
    assert.equal(JSON.stringify(value), '{"apiVersion":"v1","metadata":{"name":"a"},"spec":null,"status":"text"}');
    assert.deepEqual(decode(type, {}).value, { metadata: {} });
    assert.throws(() => decode(type, { metadata: 'text' }), DecodeError);
  });

  it('keep other fields where the schema says so', () => {
    const { value, unknownFields } = decode(
      widget({ spec: formOf(closed) }, { kind: 'any' }),
      JSON.parse('{"__proto__":{"a":1},"b":null}'),
    );
    assert.equal(JSON.stringify(value), '{"metadata":{},"__proto__":{"a":1},"b":null}');
    assert.deepEqual(unknownFields, []);
  });

  it('have owners of fields by their schema', () => {
    const view = rootView(widget({ spec: formOf(open) }));
    const before = { metadata: {}, spec: { items: [{ a: 'x', b: '1' }], known: 'k', free: { a: 1 } } };
    const after = { metadata: {}, spec: { items: [{ b: '2' }], known: 'k', free: { a: 1, b: 2 } } };
    assert.deepEqual(compareObjects(view, before, after).changed, {
      'f:spec': { 'f:items': { 'k:{"a":"x"}': { 'f:b': {} } }, 'f:free': { 'f:b': {} } },
    });
    assert.deepEqual(formFaults(view, { spec: { known: 1, free: 1 } }, false), [
      '.spec.known: expected string, got &value.valueUnstructured{Value:1}',
    ]);
    assert.deepEqual(formFaults(rootView(type), { spec: { free: 1 }, more: 1 }, false), [
      '.spec.free: field not declared in schema',
      '.more: field not declared in schema',
    ]);
    assert.deepEqual(claimedPaths(rootView(type), { spec: {} }), { 'f:spec': {} });
  });

  it('are published under their full names', () => {
    const builder = new OpenApiBuilder({ version: 3, groupName: (group) => group, domain: 'k8s.io' });
    assert.deepEqual(builder.reference(type), { $ref: '#/components/schemas/dev.example.v1.Widget' });
    const published = builder.definitions['dev.example.v1.Widget'];
    assert.equal(published?.description, 'A widget.');
    assert.deepEqual(published?.required, ['spec']);
    assert.deepEqual(published?.properties?.spec, { type: 'object', description: 'in 3' });
    assert.ok(published?.properties?.metadata);
  });

  it('have no protobuf form', () => {
    assert.throws(() => decodeProtobuf(type, new Uint8Array([0x0a, 0x00])), TypeError);
  });
});
