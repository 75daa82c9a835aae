import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonText } from '../../json/json-text.js';
import {
  always,
  anyJson,
  bool,
  bytes,
  DecodeError,
  decode,
  double,
  duration,
  fieldsV1,
  inline,
  int32,
  int64,
  intOrString,
  kind,
  lazy,
  list,
  map,
  microTime,
  optional,
  pointer,
  quantity,
  rawExtension,
  required,
  type StructType,
  string,
  struct,
  structOrBool,
  structOrList,
  structOrStrings,
  time,
  wrappedList,
} from '../index.js';
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  encodeWatchFrame,
  isEnvelope,
} from './index.js';

const part = struct('test.v1.Part', { name: required(1, string), flags: optional(2, list(int32)) });
interface Tree {
  next?: Tree;
}
const tree: StructType<Tree> = struct('test.v1.Tree', {
  next: pointer(
    1,
    lazy<Tree>(() => tree),
  ),
});
const thing = kind(
  { group: 'test', version: 'v1', kind: 'Thing' },
  {
    name: optional(1, string),
    count: pointer(2, int64),
    paused: optional(3, bool),
    ratio: pointer(4, double),
    data: optional(5, map(bytes)),
    created: always(6, time),
    seen: pointer(7, microTime),
    timeout: pointer(8, duration),
    limits: optional(9, map(quantity)),
    port: always(10, intOrString),
    raw: always(11, rawExtension),
    parts: optional(12, list(part)),
    embedded: inline(13, struct('test.v1.Embedded', { level: optional(1, int32), part: pointer(2, part) })),
    extra: optional(14, map(wrappedList('test.v1.Extra', string))),
    verbs: optional(15, wrappedList('test.v1.Verbs', string)),
    values: optional(16, list(anyJson)),
    orBool: pointer(17, structOrBool('test.v1.OrBool', part)),
    orList: pointer(18, structOrList('test.v1.OrList', part)),
    orStrings: pointer(19, structOrStrings('test.v1.OrStrings', part)),
    tree: pointer(20, tree),
  },
);

function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex');
}

function roundTrip(input: unknown): unknown {
  return decodeProtobuf(thing, encodeProtobuf(thing, decode(thing, input).value));
}

test('wire form of each kind of field', () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ name: 'ab' }, '0a026162'],
    [{ count: 0 }, '1000'],
    [{ count: -1 }, '10ffffffffffffffffff01'],
    [{ count: 2 ** 53 - 1 }, '10ffffffffffffff0f'],
    [{ paused: true }, '1801'],
    [{ ratio: 1.5 }, '21000000000000f83f'],
    [{ data: { k: 'YWI=' } }, '2a070a016b12026162'],
    [{ created: '1970-01-01T00:00:05Z' }, '320408051000'],
    [{ seen: '1970-01-01T00:00:00.000001Z' }, '3a05080010e807'],
    [{ timeout: '1us' }, '420308e807'],
    [{ limits: { cpu: '1000m' } }, '4a0a0a03637075' + '12030a0131'],
    [{ raw: { a: 1 } }, '5a090a077b2261223a317d'],
    [{ parts: [{ name: 'x', flags: [1, -1] }] }, '6210' + '0a0178' + '1001' + '10ffffffffffffffffff01'],
    [{ level: 3 }, '6a020803'],
    [{ extra: { a: ['x', 'y'] } }, '720b0a0161' + '12060a01780a0179'],
    [{ verbs: ['get'] }, '7a050a03676574'],
    [{ orBool: false }, '8a01020800'],
  ];
  const nothing = hex(encodeProtobuf(thing, decode(thing, {}).value));
  for (const [input, expected] of cases) {
    const value = decode(thing, input).value;
    const encoded = hex(encodeProtobuf(thing, value));
    assert.ok(encoded.includes(expected), `${JSON.stringify(input)}: ${encoded} has no ${expected}`);
    assert.ok(encoded.length - nothing.length <= expected.length, JSON.stringify(input));
    assert.deepEqual(decodeProtobuf(thing, Buffer.from(expected, 'hex')), decode(thing, input).value);
  }
});

test('values survive a round trip', () => {
  const part = { name: 'p', flags: [1, 2] };
  const inputs = [
    {},
    { count: -(2 ** 53 - 1), ratio: -0.1, port: 'http', timeout: '-1h30m', created: '0099-12-31T23:59:59Z' },
    { seen: '1969-12-31T23:59:59.999999Z', created: '1969-12-31T23:59:59Z', port: 8080 },
    { name: 'ü\u{1f600}', data: { empty: '', big: Buffer.alloc(1000, 7).toString('base64') } },
    { values: [1, 'x', null, { a: [null] }], extra: { a: [], b: ['', 'x'] }, parts: [part, { name: '' }] },
    { level: 0, part, orBool: part, orList: [part, part], orStrings: ['a', ''] },
    { orBool: true, orList: part, orStrings: part, tree: { next: { next: {} } } },
  ];
  for (const input of inputs) assert.deepEqual(roundTrip(input), decode(thing, input).value);
  const { value } = decode(thing, { count: -(2n ** 63n) });
  assert.equal(Buffer.from(encodeProtobuf(thing, value)).toString('hex').includes('1080808080808080808001'), true);
  assert.deepEqual(roundTrip({ count: 2n ** 63n - 1n }), decode(thing, { count: 2n ** 63n - 1n }).value);
  const hostile = decode(thing, JSON.parse('{"limits":{"__proto__":"1"}}')).value;
  assert.equal(JSON.stringify((roundTrip(hostile) as typeof hostile).limits), '{"__proto__":"1"}');
});

test('fields are in the order of their numbers and maps in that of their keys, whatever order an object has', () => {
  const type = kind(
    { group: 'test', version: 'v1', kind: 'Mixed' },
    { last: optional(17, string), first: optional(1, string), labels: optional(2, map(string)) },
  );
  const labels = { '9': '', b: '', '10': '', a: '' };
  const expected = `0a0166${['3130', '39', '61', '62'].map(entryOf).join('')}8a01016c`;
  for (const value of [
    { first: 'f', labels, last: 'l' },
    { last: 'l', labels, first: 'f', unknown: 1 },
  ]) {
    assert.equal(hex(encodeProtobuf(type, value)), expected);
  }
  function entryOf(key: string): string {
    const bytes = key.length / 2;
    return `120${bytes + 4}0a0${bytes}${key}1200`;
  }
});

test('a message has as many fields as it likes', () => {
  const names = Array.from({ length: 100 }, (_, i) => `field${i}`);
  for (const count of [31, 32, 33, 63, 64, 65, 100]) {
    const some = names.slice(0, count);
    const type = kind(
      { group: 'test', version: 'v1', kind: `Wide${count}` },
      Object.fromEntries(some.map((name, i) => [name, pointer(i + 1, int32)])),
    );
    for (const present of [some, some.slice(-1), some.slice(0, 1), some.filter((_, i) => i % 3 === 1), []]) {
      const value = Object.fromEntries(present.map((name) => [name, names.indexOf(name)]));
      assert.deepEqual(decodeProtobuf(type, encodeProtobuf(type, value)), decode(type, value).value);
    }
  }
});

test('texts and messages of all lengths', () => {
  for (const text of ['', 'a', 'ä', '€', 'a\u{1f600}', '\u0000', 'x\u007f\u0080']) {
    for (const length of [1, 39, 40, 41, 127, 128, 16_383, 16_384, 70_000]) {
      const name = text.repeat(length).slice(0, length);
      if (!name.isWellFormed()) continue;
      const input = { name, data: { [name]: '' }, parts: [{ name }, { name: 'x' }], raw: { name } };
      assert.deepEqual(roundTrip(input), decode(thing, input).value);
    }
  }
  // Halves of surrogate pairs are no UTF-8.
  assert.equal(hex(encodeProtobuf(part, { name: 'a\ud800' })), '0a0461efbfbd');
  const large = { data: { big: Buffer.alloc(3_000_000, 7).toString('base64') }, name: 'n' };
  assert.deepEqual(roundTrip(large), decode(thing, large).value);
});

test('numbers of all lengths', () => {
  for (let bits = 0; bits < 64; bits++) {
    for (const offset of [-1n, 0n]) {
      for (const sign of [1n, -1n]) {
        const count = sign * (2n ** BigInt(bits) + offset);
        if (count >= 2n ** 63n) continue;
        const input = { count: Number.isSafeInteger(Number(count)) ? Number(count) : count };
        assert.deepEqual(roundTrip(input), decode(thing, input).value, String(count));
      }
    }
  }
  for (const flag of [0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31)]) {
    const input = { parts: [{ name: '', flags: [flag] }] };
    assert.deepEqual(roundTrip(input), decode(thing, input).value);
  }
});

test('a message that fails leaves nothing to the next one', () => {
  const whole = hex(encodeProtobuf(part, { name: 'n', flags: [1] }));
  assert.throws(() => encodeProtobuf(thing, { parts: [part], created: 'never', extra: { a: ['x'] } } as never));
  assert.equal(hex(encodeProtobuf(part, { name: 'n', flags: [1] })), whole);
});

test('managed fields may be given as text', () => {
  const type = kind({ group: 'test', version: 'v1', kind: 'Managed' }, { fields: pointer(1, fieldsV1) });
  const fields = { 'f:metadata': { 'f:labels': { '.': {}, 'k:{"ä":"x"}': {} } } };
  const text = new JsonText(JSON.stringify(fields)) as never;
  assert.deepEqual(encodeProtobuf(type, { fields: text }), encodeProtobuf(type, { fields }));
});

test('repeated messages merge, unknown fields are skipped, packed numbers are read', () => {
  const twice = Buffer.from('6a020803' + '6a0512030a0178' + 'f20703616263' + '6206' + '12020102' + '0a00', 'hex');
  assert.deepEqual(
    decodeProtobuf(thing, twice),
    decode(thing, { level: 3, part: { name: 'x' }, parts: [{ name: '', flags: [1, 2] }] }).value,
  );
});

test('damaged data is a DecodeError, whatever the damage', () => {
  const sample = encodeProtobuf(
    thing,
    decode(thing, {
      name: 'n',
      created: '2024-01-01T00:00:00Z',
      limits: { a: '1' },
      raw: { a: 1 },
      parts: [{ name: 'x', flags: [1] }],
      part: { name: 'y' },
      orStrings: ['x'],
    }).value,
  );
  const attempts: Uint8Array[] = [];
  for (let cut = 1; cut < sample.length; cut++) attempts.push(sample.subarray(0, cut));
  for (let at = 0; at < sample.length; at++) {
    for (const byte of [0x00, 0x0b, 0x7f, 0xff]) {
      const damaged = Uint8Array.from(sample);
      damaged[at] = byte;
      attempts.push(damaged);
    }
  }
  let refused = 0;
  for (const attempt of attempts) {
    try {
      decodeProtobuf(thing, attempt);
    } catch (error) {
      refused++;
      assert.ok(error instanceof DecodeError, `${hex(attempt)}: ${error}`);
    }
  }
  assert.ok(refused > attempts.length / 4, `${refused} of ${attempts.length}`);
});

test('refused values', () => {
  const refused: Readonly<Record<string, RegExp>> = {
    '0801': /wrong wire type/,
    '0aff01': /invalid protobuf data/,
    '4a0a0a0363707512': /invalid protobuf data/,
    '4a060a01611201': /invalid protobuf data/,
    '5a040a027b61': /not JSON/,
    '3206108094ebdc03': /time out of range/,
  };
  for (const [data, pattern] of Object.entries(refused)) {
    assert.throws(
      () => decodeProtobuf(thing, Buffer.from(data, 'hex')),
      (error) => {
        assert.ok(error instanceof DecodeError, data);
        assert.match(error.message, pattern, data);
        return true;
      },
    );
  }
  let nested = Buffer.alloc(0);
  for (let i = 0; i < 3000; i++) nested = Buffer.concat([Buffer.from([0x0a]), varint(nested.length), nested]);
  const deep = Buffer.concat([Buffer.from('a201', 'hex'), varint(nested.length), nested]);
  assert.throws(() => decodeProtobuf(thing, deep), DecodeError);
  assert.throws(() => decodeProtobuf(thing, Buffer.alloc(1_000_000, 0x0b)), DecodeError);
});

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 127) {
    out.push((rest & 127) | 128);
    rest >>>= 7;
  }
  return Buffer.from([...out, rest]);
}

test('the envelope', () => {
  const body = encodeEnvelope('v1', 'Pod', Buffer.from('0a00', 'hex'));
  assert.equal(hex(body), '6b387300' + '0a09' + '0a027631' + '1203506f64' + '12020a00' + '1a00' + '2200');
  assert.equal(isEnvelope(body), true);
  const { raw, ...texts } = decodeEnvelope(body);
  assert.equal(hex(raw), '0a00');
  assert.deepEqual(texts, { apiVersion: 'v1', kind: 'Pod', contentEncoding: '', contentType: '' });
  assert.equal(isEnvelope(Buffer.from('{}')), false);
  assert.throws(() => decodeEnvelope(Buffer.from('{}')), /does not appear to be a protobuf message/);
  for (let cut = 5; cut < body.length - 4; cut++) {
    try {
      decodeEnvelope(body.subarray(0, cut));
    } catch (error) {
      assert.ok(error instanceof DecodeError);
    }
  }
  assert.equal(hex(encodeWatchFrame('ADDED', Buffer.from([1, 2]))), '0000000d' + '0a054144444544' + '12040a020102');
});
