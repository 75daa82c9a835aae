import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  always,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../base/machinery/schema/index.js';
import { decodeEnvelope, decodeProtobuf } from '../../../base/machinery/schema/protobuf/index.js';
import { ProtobufList, protobufBody, protobufEvent } from './protobuf-answer.js';

const meta = struct('test.v1.Meta', { name: optional(1, string) });
const listMeta = struct('test.v1.ListMeta', {
  resourceVersion: optional(2, string),
  remainingItemCount: pointer(4, int64),
});
const thing = kind({ group: 'test', version: 'v1', kind: 'Thing' }, { metadata: always(1, meta) });
const thingList = kind(
  { group: 'test', version: 'v1', kind: 'ThingList' },
  { metadata: always(1, listMeta), items: required(2, list(thing)) },
);
const identity = { kind: 'ThingList', apiVersion: 'test/v1' };
const named = (name: string) => ({ kind: 'Thing', apiVersion: 'test/v1', metadata: { name } });

it('puts an object into an envelope', () => {
  const envelope = decodeEnvelope(protobufBody(thing, named('a')));
  assert.equal(envelope.kind, 'Thing');
  assert.equal(envelope.apiVersion, 'test/v1');
  assert.deepEqual(decodeProtobuf(thing, envelope.raw), { metadata: { name: 'a' } });
});

it('makes one list of several pages', () => {
  const writer = new ProtobufList(thing);
  writer.add([named('a'), named('b')]);
  writer.add([]);
  writer.add([named('c')]);
  const pieces = writer.finish(identity, listMeta, { resourceVersion: '7', remainingItemCount: 2 });
  const envelope = decodeEnvelope(Buffer.concat([...pieces]));
  assert.equal(envelope.kind, 'ThingList');
  assert.deepEqual(decodeProtobuf(thingList, envelope.raw), {
    metadata: { resourceVersion: '7', remainingItemCount: 2 },
    items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }, { metadata: { name: 'c' } }],
  });
});

it('makes an empty list', () => {
  const pieces = new ProtobufList(thing).finish(identity, listMeta, { resourceVersion: '7' });
  const decoded = decodeProtobuf(thingList, decodeEnvelope(Buffer.concat([...pieces])).raw);
  assert.deepEqual(decoded, { metadata: { resourceVersion: '7' }, items: null });
});

it('frames an event with its length', () => {
  const frame = protobufEvent('ERROR', thing, named('a'));
  assert.equal(frame.readUInt32BE(0), frame.length - 4);
  assert.ok(frame.subarray(4).includes(protobufBody(thing, named('a'))));
});
