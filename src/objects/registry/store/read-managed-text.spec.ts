import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { JsonText } from '../../../base/machinery/json/json-text.js';
import {
  always,
  anyJson,
  fieldsV1,
  kind,
  list,
  map,
  optional,
  pointer,
  string,
  struct,
  time,
} from '../../../base/machinery/schema/index.js';
import { encodeProtobuf } from '../../../base/machinery/schema/protobuf/index.js';
import { defineResource } from '../resource-definition.js';
import { ResourceRegistry, type ServedResource } from '../resource-registry.js';
import { encodeForStorage, parseStored } from './object-codec.js';
import { parseManagedAsText, parseMetadataAsText } from './read-managed-text.js';

const entry = struct('test.Entry', {
  manager: optional(1, string),
  operation: optional(2, string),
  apiVersion: optional(3, string),
  time: pointer(4, time),
  fieldsType: optional(6, string),
  fieldsV1: pointer(7, fieldsV1),
  subresource: optional(8, string),
});
const objectMeta = struct('test.Meta', {
  name: optional(1, string),
  namespace: optional(3, string),
  resourceVersion: optional(6, string),
  creationTimestamp: always(8, time),
  labels: optional(11, map(string)),
  managedFields: optional(17, list(entry)),
});
const note = (version: string) =>
  kind({ group: 'test', version, kind: 'Note' }, { metadata: always(1, objectMeta), data: optional(2, anyJson) });

function notes(defaultsRevision: number): Readonly<Record<'v1' | 'v1beta1', ServedResource>> {
  const registry = new ResourceRegistry();
  registry.register(
    defineResource({
      group: 'test',
      resource: 'notes',
      singular: 'note',
      kind: 'Note',
      namespaced: true,
      versions: [
        { version: 'v1', type: note('v1') },
        { version: 'v1beta1', type: note('v1beta1'), toStored: (object) => object },
      ],
      defaultsRevision,
      strategy: {},
    }),
  );
  const of = (version: string) => registry.find('test', version, 'notes') as ServedResource;
  return { v1: of('v1'), v1beta1: of('v1beta1') };
}

const { v1, v1beta1 } = notes(0);
const manager = (fieldsV1?: unknown) => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  ...(fieldsV1 === undefined ? {} : { fieldsV1 }),
  subresource: 'status',
});
const plain = { 'f:data': { '.': {}, 'f:a': {} } };
const odd = {
  'k:{"name":"}]{[\\"fieldsV1\\":{"}': { '.': {} },
  'v:"\\\\"': {},
  'f:ä\u2028<&>': {},
  [`f:${'x'.repeat(200)}`]: {},
};
const noted = (managedFields: readonly unknown[] | undefined, more: object = {}, data: unknown = 1): ApiObject =>
  ({
    metadata: {
      name: 'n',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...more,
      ...(managedFields === undefined ? {} : { managedFields }),
    },
    data,
  }) as ApiObject;

const readable: Readonly<Record<string, ApiObject>> = {
  'without managers': noted(undefined),
  'one manager': noted([manager(plain)]),
  'several managers, one without fields': noted([manager(plain), manager(), manager(odd), manager({})]),
  'a label of that name': noted([manager(plain)], { labels: { a: '"fieldsV1":{}' } }),
  'text that looks like it': noted([manager(odd)], {}, { text: 'a "fieldsV1":{"f:x":{}} b' }),
};
const unreadable: Readonly<Record<string, ApiObject>> = {
  'data with a member of that name': noted([manager(plain)], {}, { fieldsV1: { a: 1 } }),
  'data with a number of that name': noted([manager(plain)], {}, { fieldsV1: 0 }),
  'no fields but a member of that name': noted([manager()], {}, { fieldsV1: {} }),
  'a label with that key': noted([manager(plain)], { labels: { fieldsV1: 'x' } }),
  'numbers that need care': noted([manager(plain)], {}, parseJson('[1234567890123456789]')),
};

describe('objects whose managed fields stay text', () => {
  for (const [what, object] of Object.entries(readable)) {
    it(`${what}: have the same bytes in protobuf as those that were parsed`, () => {
      const stored = { json: encodeForStorage(v1, object), resourceVersion: 7n };
      const read = parseManagedAsText(v1, stored);
      assert.ok(read !== undefined);
      assert.deepEqual([read.kind, read.apiVersion, read.metadata.resourceVersion], ['Note', 'test/v1', '7']);
      for (const { fieldsV1 } of read.metadata.managedFields ?? []) {
        assert.ok(fieldsV1 === undefined || fieldsV1 instanceof JsonText);
      }
      const whole = encodeProtobuf(v1.served.type, parseStored(v1, stored));
      assert.deepEqual(encodeProtobuf(v1.served.type, read), whole);
      const metadata = parseMetadataAsText(v1, stored);
      assert.ok(metadata !== undefined);
      const type = kind({ group: 'test', version: 'v1', kind: 'Metadata' }, { metadata: always(1, objectMeta) });
      assert.deepEqual(encodeProtobuf(type, metadata as never), encodeProtobuf(type, parseStored(v1, stored) as never));
    });
  }

  for (const [what, object] of Object.entries(unreadable)) {
    it(`${what}: are to be read as a whole`, () => {
      const stored = { json: encodeForStorage(v1, object), resourceVersion: 7n };
      assert.equal(parseManagedAsText(v1, stored), undefined);
    });
  }

  it('of another version or of an older form are to be read as a whole', () => {
    const stored = { json: encodeForStorage(v1, noted([manager(plain)])), resourceVersion: 7n };
    for (const resource of [v1beta1, notes(1).v1]) {
      assert.equal(parseManagedAsText(resource, stored), undefined);
      assert.equal(parseMetadataAsText(resource, stored), undefined);
    }
  });

  it('of a dry run have no version', () => {
    const stored = { json: encodeForStorage(v1, noted([manager(plain)])), resourceVersion: undefined };
    assert.equal(parseManagedAsText(v1, stored)?.metadata.resourceVersion, undefined);
  });
});
