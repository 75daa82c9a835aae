import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { always, kind, list, optional, pointer, string, struct } from '../../../base/machinery/schema/index.js';
import { encodeEnvelope, encodeProtobuf } from '../../../base/machinery/schema/protobuf/index.js';
import { decodeProtobufObject, decodeProtobufOptions } from './protobuf-request.js';

const meta = struct('test.v1.Meta', { name: optional(1, string) });
const thing = kind(
  { group: 'test', version: 'v1', kind: 'Thing' },
  { metadata: always(1, meta), tags: optional(2, list(string)) },
);
const options = kind({ group: '', version: 'v1', kind: 'Options' }, { policy: pointer(1, string) });
const expected = { group: 'test', version: 'v1', kind: 'Thing' };
const message = encodeProtobuf(thing, { metadata: { name: 'a' }, tags: ['x'] });

describe('decodeProtobufObject', () => {
  it('reads an object and gives it the expected identity', () => {
    const object = { kind: 'Thing', apiVersion: 'test/v1', metadata: { name: 'a' }, tags: ['x'] };
    const full = encodeEnvelope('test/v1', 'Thing', message);
    assert.deepEqual(decodeProtobufObject(thing, expected, full), object);
    const anonymous = encodeEnvelope('', '', message);
    assert.deepEqual(decodeProtobufObject(thing, expected, anonymous), object);
    const empty = encodeEnvelope('test/v1', 'Thing', new Uint8Array());
    assert.deepEqual(decodeProtobufObject(thing, expected, empty).metadata, {});
  });

  const prefix = Buffer.from('k8s\0');
  const bad: [string, Buffer, RegExp][] = [
    ['no bytes', Buffer.alloc(0), /unrecognized \(must be of type Thing\).*<empty>/],
    [
      'JSON',
      Buffer.from('{"kind":"Thing"}'),
      /does not appear to be a protobuf message, expected prefix \[107 56 115 0\] \(\{"kind":"Thing"\}\)/,
    ],
    ['only the prefix', prefix, /envelope is empty \(6b387300\)/],
    ['garbage in the envelope', Buffer.concat([prefix, Buffer.from('garbage!')]), /invalid protobuf envelope/],
    ['a cut envelope', encodeEnvelope('test/v1', 'Thing', message).subarray(0, 20), /invalid protobuf envelope/],
    ['garbage in the message', encodeEnvelope('test/v1', 'Thing', Buffer.from([0xff, 0xff])), /cannot be handled as a/],
    [
      'another kind',
      encodeEnvelope('test/v1', 'Other', message),
      /^Other in version "v1" cannot be handled as a Thing/,
    ],
    [
      'another version',
      encodeEnvelope('test/v2', 'Thing', message),
      /no kind "Thing" is registered for version "test\/v2"/,
    ],
  ];
  for (const [what, body, text] of bad) {
    it(`refuses ${what} with a 400`, () => {
      assert.throws(() => decodeProtobufObject(thing, expected, body), { code: 400, message: text });
    });
  }

  it('survives every cut and every flipped byte', () => {
    const body = encodeEnvelope('test/v1', 'Thing', message);
    const attempt = (damaged: Buffer) => {
      try {
        decodeProtobufObject(thing, expected, damaged);
      } catch (error) {
        assert.equal((error as { code?: number }).code, 400, String(error));
      }
    };
    for (let i = 0; i < body.length; i++) {
      attempt(body.subarray(0, i));
      for (const bits of [0x01, 0x07, 0x80, 0xff]) {
        const damaged = Buffer.from(body);
        damaged[i] = (damaged[i] as number) ^ bits;
        attempt(damaged);
      }
    }
  });
});

describe('decodeProtobufOptions', () => {
  it('accepts the options of any group version', () => {
    const raw = encodeProtobuf(options, { policy: 'Orphan' });
    for (const apiVersion of ['v1', 'apps/v1', 'meta.k8s.io/v1']) {
      assert.deepEqual(decodeProtobufOptions(options, encodeEnvelope(apiVersion, 'Options', raw)), {
        policy: 'Orphan',
      });
    }
    assert.throws(() => decodeProtobufOptions(options, encodeEnvelope('v1', 'Pod', raw)), { code: 400 });
  });
});
