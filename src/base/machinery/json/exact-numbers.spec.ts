import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareObjects, type FieldSet, rootView } from '../field-set/index.js';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from '../patch/index.js';
import { deepEqual } from '../patch/json-value.js';
import { anyJson, decode, int32, int64, kind, list, optional, quantity, rawExtension } from '../schema/index.js';
import { decodeProtobuf } from '../schema/protobuf/decode-protobuf.js';
import { encodeProtobuf } from '../schema/protobuf/encode-protobuf.js';
import {
  cloneJson,
  ExactNumber,
  mayHaveExactNumbers,
  parseExactJson,
  parseJson,
  stringifyNoting,
} from './exact-numbers.js';

const sample = kind(
  { group: '', version: 'v1', kind: 'Sample' },
  {
    big: optional(1, int64),
    small: optional(2, int32),
    size: optional(3, quantity),
    raw: optional(4, rawExtension),
    any: optional(5, anyJson),
    bigs: optional(6, list(int64), { listType: 'set', patch: { strategy: 'merge' } }),
  },
);

/** Decodes text by the declaration and serializes the result. */
function through(text: string): string {
  return JSON.stringify(decode(sample, parseJson(text)).value);
}

const spellings = ['1.0', '1e3', '-0', '-0.0', '1E-7', '0.10', '1e999', '9007199254740993', '-18446744073709551617'];
const long = `0.${'1234567890'.repeat(5)}`;

describe('parseJson', () => {
  it('keeps every spelling of a number in any position', () => {
    for (const number of [...spellings, long, '9'.repeat(200)]) {
      for (const text of [`{"a":${number}}`, `[${number}]`, `[1,${number}]`, `{"\\\\":${number},"b":"1.0"}`]) {
        assert.equal(JSON.stringify(parseJson(text)), text);
      }
      assert.equal(JSON.stringify(parseJson(`{ "a" :\t${number} }`.replace(' :', ':'))), `{"a":${number}}`);
    }
  });

  it('keeps numbers after white space before the colon', () => {
    assert.equal(JSON.stringify(parseJson('{"a" : 1.0 , "b"\n:\n1e3}')), '{"a":1.0,"b":1e3}');
  });

  it('leaves ordinary text to the plain parser', () => {
    const plain = {
      image: 'nginx:1.25.3',
      renewTime: '2024-01-01T10:20:30.123456Z',
      port: 80,
      id: `a:${'1'.repeat(20)}`,
    };
    assert.equal(mayHaveExactNumbers(JSON.stringify(plain)), false);
    assert.equal(mayHaveExactNumbers(JSON.stringify(plain, null, 2)), false);
    assert.deepEqual(parseJson(JSON.stringify(plain)), plain);
  });

  it('makes plain numbers only where that is exact, and bigints of whole numbers', () => {
    const value = parseJson('{"a":1.5,"b":9007199254740991,"c":9007199254740992,"d":1.50}') as Record<string, unknown>;
    assert.equal(value.a, 1.5);
    assert.equal(value.b, 9007199254740991);
    assert.equal(value.c, 9007199254740992n);
    assert.ok(value.d instanceof ExactNumber);
    assert.equal(Number(value.d), 1.5);
  });

  it('throws the errors of JSON.parse, refuses deep nesting of any origin, and reads stored text', () => {
    assert.throws(() => parseJson('{"a":1.0'), SyntaxError);
    assert.throws(() => parseJson('{"a":01.0}'), SyntaxError);
    const deep = `${'['.repeat(100_000)}1.0${']'.repeat(100_000)}`;
    assert.throws(() => parseJson(deep), { message: 'exceeded max depth' });
    assert.ok(Array.isArray(parseExactJson(deep, [])));
  });

  it('keeps keys that objects inherit', () => {
    const text = '{"__proto__":{"a":1.0},"constructor":2.0}';
    assert.equal(JSON.stringify(parseJson(text)), text);
    assert.equal(JSON.stringify(cloneJson(parseJson(text))), text);
  });
});

describe('stringifyNoting', () => {
  it('knows whether a value has numbers that the plain parser would change', () => {
    assert.deepEqual(stringifyNoting({ a: 1.5 }), { text: '{"a":1.5}', hasExactNumbers: false });
    assert.deepEqual(stringifyNoting({ a: 2n ** 60n }), { text: '{"a":1152921504606846976}', hasExactNumbers: true });
    assert.deepEqual(stringifyNoting(parseExactJson('{"a":1.0}')), { text: '{"a":1.0}', hasExactNumbers: true });
  });
});

describe('values with exact numbers', () => {
  it('decodes whole numbers of 64 bits and refuses longer ones', () => {
    for (const big of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '1152921504606846977']) {
      assert.equal(through(`{"big":${big}}`), `{"big":${big}}`);
    }
    for (const tooBig of ['9223372036854775808', '-9223372036854775809', '1.5', '1e30', '9'.repeat(100)]) {
      assert.throws(() => through(`{"big":${tooBig}}`), /big: expected a whole number of 64 bits, found the number/);
    }
    assert.equal(through('{"big":1e3,"small":2.0}'), '{"big":1000,"small":2}');
    assert.throws(() => through('{"small":9007199254740993}'), /found the number 9007199254740993/);
    assert.equal(through('{"raw":1.0}'), '{"raw":1}');
  });

  it('writes free-form values as every client reads them', () => {
    const plain: readonly (readonly [string, string])[] = [
      ['1.0', '1'],
      ['1e3', '1000'],
      ['-0', '0'],
      ['-0.0', '0'],
      ['1E-7', '1e-7'],
      ['0.10', '0.1'],
      ['1e-400', '0'],
      ['1e21', '1e+21'],
      ['9007199254740993', '9007199254740993'],
      ['9007199254740993.0', '9007199254740992'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['9223372036854775808', '9223372036854776000'],
      ['-18446744073709551617', '-18446744073709552000'],
    ];
    for (const [sent, kept] of plain) {
      const text = (number: string) => `{"raw":{"b":[${number}],"a":{"x":${number}}},"any":[${number}]}`;
      assert.equal(through(text(sent)), text(kept));
      assert.equal(through(text(kept)), text(kept));
    }
  });

  it('refuses free-form numbers beyond all doubles', () => {
    for (const number of ['1e400', '-1e400', '9'.repeat(400)]) {
      assert.throws(
        () => through(`{"raw":{"b":[${number}]}}`),
        /raw: the number -?[0-9e.]+ is beyond the numbers of 64 bits/,
      );
      assert.throws(() => through(`{"any":${number}}`), /any: the number/);
    }
  });

  it('reads quantities from their text', () => {
    assert.equal(through('{"size":1e3}'), '{"size":"1e3"}');
    assert.equal(through('{"size":1.50}'), '{"size":"1500m"}');
    assert.equal(through('{"size":9007199254740993}'), '{"size":"9007199254740993"}');
  });

  it('passes through protobuf unchanged', () => {
    const text =
      '{"big":9223372036854775807,"raw":{"a":1},"any":[1000,9007199254740993],"bigs":[-9223372036854775808]}';
    const { value } = decode(sample, parseJson(text));
    assert.equal(JSON.stringify(decodeProtobuf(sample, encodeProtobuf(sample, value))), text);
  });

  it('distinguishes values by number and spelling', () => {
    const equal = (a: string, b: string) => deepEqual(parseJson(`{"a":${a}}`), parseJson(`{"a":${b}}`));
    assert.equal(equal('1.0', '1.0'), true);
    assert.equal(equal('1.0', '1'), false);
    assert.equal(equal('9007199254740993', '9007199254740993'), true);
    assert.equal(equal('9007199254740993', '9007199254740992'), false);
    assert.equal(equal('1.0', '{"text":"1.0"}'), false);
  });

  it('is seen by field management', () => {
    const view = rootView(sample);
    const before = decode(sample, parseJson('{"big":9007199254740992,"any":1.0,"bigs":[9007199254740992]}')).value;
    const after = decode(sample, parseJson('{"big":9007199254740993,"any":1.5,"bigs":[9007199254740993]}')).value;
    assert.deepEqual(compareObjects(view, before, cloneJson(before)), { changed: {}, removed: {} } satisfies {
      changed: FieldSet;
      removed: FieldSet;
    });
    const { changed, removed } = compareObjects(view, before, after);
    assert.deepEqual(Object.keys(changed).sort(), ['f:any', 'f:big', 'f:bigs']);
    assert.deepEqual(Object.keys(changed['f:bigs'] as object), ['v:9007199254740993']);
    assert.deepEqual(Object.keys(removed['f:bigs'] as object), ['v:9007199254740992']);
  });

  it('is patched without loss', () => {
    const live = parseJson('{"big":9007199254740993,"any":{"a":1.0,"b":2.0},"bigs":[9007199254740993]}') as object;
    const merged = applyMergePatch(live, parseJson('{"any":{"a":1e3}}'));
    assert.equal(JSON.stringify(merged), '{"big":9007199254740993,"any":{"a":1e3,"b":2.0},"bigs":[9007199254740993]}');
    const strategic = parseJson('{"any":{"c":3.0},"bigs":[9007199254740993,5]}') as Record<string, unknown>;
    assert.equal(
      JSON.stringify(applyStrategicMergePatch(sample, live, strategic)),
      '{"big":9007199254740993,"any":{"a":1.0,"b":2.0,"c":3.0},"bigs":[9007199254740993,5]}',
    );
    const operations = parseJson(
      '[{"op":"test","path":"/any/a","value":1},{"op":"add","path":"/any/d","value":4.0},' +
        '{"op":"copy","from":"/any","path":"/copy"},{"op":"test","path":"/big","value":9007199254740993}]',
    ) as unknown[];
    const patched = applyJsonPatch(live, operations) as { copy: unknown };
    assert.equal(JSON.stringify(patched.copy), '{"a":1.0,"b":2.0,"d":4.0}');
    const wrong = parseJson('[{"op":"test","path":"/big","value":9007199254740992}]') as unknown[];
    assert.throws(() => applyJsonPatch(live, wrong), { name: 'PatchError' });
    const inside = parseJson('[{"op":"add","path":"/any/a/text","value":"2.0"}]') as unknown[];
    assert.throws(() => applyJsonPatch(live, inside), { name: 'PatchError' });
  });
});
