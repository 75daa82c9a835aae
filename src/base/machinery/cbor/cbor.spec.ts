import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ExactNumber, parseJson } from '../json/exact-numbers.js';
import { NestingError } from '../json/nesting-error.js';
import { bytes, kind, list, map, optional, string, struct } from '../schema/index.js';
import { CborError, cborShapeOf, decodeCbor, encodeCbor, encodeCborHead } from './index.js';

const decoded = (hex: string) => decodeCbor(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const asJson = (hex: string) => JSON.stringify(decoded(hex));

// Each pair was given to the decoder of Kubernetes 1.37, whose value was written as JSON. That JSON has no point in
// whole numbers: 1.0 is 1 there, and differs from an integer only in CBOR.
const values: [string, string][] = [
  ['00', '0'],
  ['17', '23'],
  ['1818', '24'],
  ['1903e8', '1000'],
  ['1a000f4240', '1000000'],
  ['1b001fffffffffffff', '9007199254740991'],
  ['1b0020000000000000', '9007199254740992'],
  ['1b7fffffffffffffff', '9223372036854775807'],
  ['20', '-1'],
  ['3b001ffffffffffffe', '-9007199254740991'],
  ['3b001fffffffffffff', '-9007199254740992'],
  ['3b7fffffffffffffff', '-9223372036854775808'],
  ['f93e00', '1.5'],
  ['f90001', '5.960464477539063e-8'],
  ['f97bff', '65504.0'],
  ['f98000', '-0.0'],
  ['fa47c35000', '100000.0'],
  ['fb3ff199999999999a', '1.1'],
  ['fb7e37e43c8800759c', '1e+300'],
  ['f4', 'false'],
  ['f5', 'true'],
  ['f6', 'null'],
  ['60', '""'],
  ['40', '""'],
  ['62c3bc', '"ü"'],
  ['42c3bc', '"ü"'],
  ['7f 61 61 62 62 63 ff', '"abc"'],
  ['5f 42 c3 bc 41 61 ff', '"üa"'],
  ['5f 41 c3 41 bc ff', '"ü"'],
  ['80', '[]'],
  ['83 01 82 02 03 04', '[1,[2,3],4]'],
  ['9f 01 9f ff ff', '[1,[]]'],
  ['a0', '{}'],
  ['a2 61 61 01 41 62 82 02 03', '{"a":1,"b":[2,3]}'],
  ['bf 61 61 01 ff', '{"a":1}'],
  ['d9d9f7 a1 44 6b696e64 43 506f64', '{"kind":"Pod"}'],
  ['d6 43 010203', '"AQID"'],
  ['d6 82 41 01 d9d9f7 41 02', '["AQ==","Ag=="]'],
  ['82 d6 a1 41 01 41 02 41 61', '[{"AQ==":"Ag=="},"a"]'],
  ['d6 5f 41 01 42 02 03 ff', '"AQID"'],
  ['d864 01', '1'],
  ['c0 74 323031332d30332d32315432303a30343a30305a', '"2013-03-21T20:04:00Z"'],
  ['c1 1a 514b67b0', '"2013-03-21T20:04:00Z"'],
  ['c1 fb 41d452d9ec200000', '"2013-03-21T20:04:00.5Z"'],
  ['c1 f9 be00', '"1969-12-31T23:59:58.5Z"'],
];

const refused: [string, string, RegExp][] = [
  ['nothing', '', /unexpected EOF/],
  ['a second item', '00 00', /1 bytes of extraneous data starting at index 1/],
  ['an item that ends early', '19 01', /unexpected EOF/],
  ['a string that ends early', '63 61', /unexpected EOF/],
  ['an array that ends early', '82 01', /unexpected EOF/],
  ['an array of absurd length', '9b ffffffffffffffff', /unexpected EOF/],
  ['a reserved length', '1c', /invalid additional information 28/],
  ['an integer above 64 bits', '1b 8000000000000000', /overflows/],
  ['an integer below 64 bits', '3b 8000000000000000', /overflows/],
  ['a bignum', 'c2 41 01', /bignum/],
  ['a negative bignum', 'c3 41 01', /bignum/],
  ['NaN', 'f9 7e00', /NaN/],
  ['infinity', 'fb 7ff0000000000000', /infinity/],
  ['undefined', 'f7', /simple value 23/],
  ['a simple value', 'e0', /simple value 0/],
  ['a simple value in two bytes', 'f8 ff', /simple value 255/],
  ['a break without a beginning', 'ff', /unexpected "break"/],
  ['a break instead of a value', 'bf 61 61 ff', /unexpected "break"/],
  ['text that is no UTF-8', '62 c328', /invalid UTF-8/],
  ['a byte string that is no UTF-8', '42 c328', /invalid UTF-8/],
  ['a chunk that is no UTF-8', '7f 61 c3 61 bc ff', /invalid UTF-8/],
  ['a chunk of the other kind', '7f 41 61 ff', /wrong part/],
  ['a chunk in chunks', '7f 7f ff ff', /wrong part/],
  ['equal keys', 'a2 61 61 01 61 61 02', /found duplicate map key "a"/],
  ['equal keys as text and as bytes', 'a2 61 61 01 41 61 02', /found duplicate map key "a"/],
  ['a key that is a number', 'a1 01 02', /not a string/],
  ['a key that is a list', 'a1 80 02', /not a string/],
  ['a key that is a time', 'a1 c1 00 02', /not a string/],
  ['a time that is none', 'c0 61 78', /cannot parse "x" as "2006"/],
  ['a time in bytes', 'c0 41 78', /text string/],
  ['a time beyond all calendars', 'c1 1b 7fffffffffffffff', /years/],
  ['a time that is no number', 'c1 61 78', /number/],
  ['a time in a tag of its own', 'c1 d864 01', /number/],
  ['bytes as base64url', 'd5 41 01', /tag number 21/],
  ['bytes as base16', 'd7 41 01', /tag number 23/],
];

describe('decodeCbor', () => {
  for (const [hex, json] of values) it(`reads ${hex} as ${json}`, () => assert.equal(asJson(hex), json));

  for (const [what, hex, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(() => decoded(hex), { name: 'SyntaxError', message });
      assert.throws(() => decoded(hex), CborError);
    });
  }

  it('distinguishes numbers with a point from integers', () => {
    assert.equal(decoded('01'), 1);
    assert.deepEqual(decoded('f93c00'), new ExactNumber('1.0'));
    assert.equal(decoded('1b0020000000000000'), 2n ** 53n);
  });

  it('refuses deep nesting, of tags too', () => {
    for (const byte of ['81', 'd9d9f7', '9f', 'a161']) {
      const hex = byte === 'a161' ? 'a16161' : byte;
      assert.doesNotThrow(() => decoded(`${hex.repeat(900)}00${byte === '9f' ? 'ff'.repeat(900) : ''}`));
      assert.throws(() => decoded(hex.repeat(100_000)), NestingError);
    }
  });

  it('takes keys for keys that mean something to JavaScript', () => {
    const value = decoded('a3 695f5f70726f746f5f5f a1 6161 01 6b636f6e7374727563746f72 02 68746f537472696e67 03');
    assert.equal(JSON.stringify(value), '{"__proto__":{"a":1},"constructor":2,"toString":3}');
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });
});

describe('encodeCbor', () => {
  // As encoded by Kubernetes 1.37.
  const items: [string, string][] = [
    ['0', '00'],
    ['-1', '20'],
    ['255', '18ff'],
    ['65536', '1a00010000'],
    ['4294967296', '1b0000000100000000'],
    ['-4294967297', '3b0000000100000000'],
    ['9223372036854775807', '1b7fffffffffffffff'],
    ['-9223372036854775808', '3b7fffffffffffffff'],
    ['9223372036854775808', 'fa5f000000'],
    ['1.0', 'f93c00'],
    ['1.5', 'f93e00'],
    ['-0.0', 'f98000'],
    ['-0', '00'],
    ['1e3', 'f963d0'],
    ['65504.0', 'f97bff'],
    ['65505.0', 'fa477fe100'],
    ['100000.0', 'fa47c35000'],
    ['5.960464477539063e-8', 'f90001'],
    ['6.103515625e-05', 'f90400'],
    ['1.1', 'fb3ff199999999999a'],
    ['1e300', 'fb7e37e43c8800759c'],
    ['1e21', 'fb444b1ae4d6e2ef50'],
    ['true', 'f5'],
    ['[false,null]', '82f4f6'],
    ['""', '40'],
    ['"ü"', '42c3bc'],
    ['{"kind":"Pod"}', 'a1446b696e6443506f64'],
    ['{"a":{"b":[]}}', 'a14161a1416280'],
  ];
  for (const [json, hex] of items) {
    it(`writes ${json} as ${hex}`, () =>
      assert.equal(
        encodeCbor(parseJson(`[${json}]`))
          .toString('hex')
          .slice(2),
        hex,
      ));
  }

  it('writes strings of any length, and reads them again', () => {
    for (const length of [0, 23, 24, 63, 64, 65, 255, 256, 65_535, 65_536, 200_000]) {
      for (const character of ['a', 'ü', '€', '😀']) {
        const value = { [character.repeat(length)]: character.repeat(length) };
        assert.deepEqual(decodeCbor(encodeCbor(value)), value);
      }
    }
  });

  it('leaves members out that JSON leaves out', () => {
    assert.deepEqual(decodeCbor(encodeCbor({ a: undefined, b: 1, c: [undefined] })), { b: 1, c: [null] });
  });

  it('makes heads', () => {
    assert.equal(encodeCborHead('array', 3).toString('hex'), '83');
    assert.equal(encodeCborHead('map', 300).toString('hex'), 'b9012c');
  });

  it('writes what types know to be bytes as bytes, wherever it is', () => {
    const inner = struct('test.Inner', { raw: optional(1, bytes), text: optional(2, string) });
    const type = kind(
      { group: '', version: 'v1', kind: 'Thing' },
      {
        data: optional(2, map(bytes)),
        list: optional(3, list(inner)),
        text: optional(4, string),
      },
    );
    const shape = cborShapeOf(type);
    const value = { data: { a: 'AQID', b: '' }, list: [{ raw: '/w==', text: '/w==' }], text: 'AQID' };
    const encoded = encodeCbor(value, shape);
    assert.equal(
      encoded.toString('hex'),
      [
        'a3 44 64617461 a2 41 61 d643010203 41 62 d640',
        '44 6c697374 81 a2 43 726177 d641ff 44 74657874 44 2f773d3d',
        '44 74657874 44 41514944',
      ]
        .join('')
        .replaceAll(' ', ''),
    );
    assert.deepEqual(decodeCbor(encoded), value);
    assert.equal(cborShapeOf(struct('test.Plain', { text: optional(1, string) })), undefined);
  });
});
