import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseExactJson, parseJson } from './exact-numbers.js';
import { hasSurrogateEscape, plainJson } from './plain-json.js';
import { needsExactParsing, readableStoredText, toStoredText } from './stored-text.js';

describe('toStoredText', () => {
  it('writes numbers and text as every client reads them, and marks what needs care in parsing', () => {
    const stored = (text: string) => toStoredText(parseJson(text) as object);
    assert.equal(stored('{"a":1.5,"b":"é"}'), '{"a":1.5,"b":"é"}');
    assert.equal(stored('{"a":1.0,"b":[1e2,-0.0]}'), '{"a":1,"b":[100,0]}');
    assert.equal(stored('{"a":9007199254740993}'), '{"a":9007199254740993}\n ');
    assert.equal(stored('{"a":"\\ud800","\\udc00":{"__proto__":1.0}}'), '{"a":"\ufffd","\ufffd":{"__proto__":1}}');
    assert.throws(() => stored('{"a":[1e400]}'), { name: 'ValueFormatError' });
    assert.ok(needsExactParsing(stored('{"a":9007199254740993}')));
    assert.ok(!needsExactParsing(stored('{"a":1.0}')));
  });

  it('never writes what it would have to repair', () => {
    const stored = toStoredText(parseJson('{"a":9007199254740993,"b":"\\\\ud800","c":"\\ud83d\\ude00"}') as object);
    assert.equal(readableStoredText(stored), stored);
  });
});

describe('readableStoredText', () => {
  it('repairs what earlier releases stored, and keeps the white space that says how it was completed', () => {
    const repairs: readonly (readonly [string, string])[] = [
      ['{ \t"a":1e400,"b":-1e400} ', '{ \t"a":1.7976931348623157e+308,"b":-1.7976931348623157e+308}'],
      ['{"a":1.0,"b":9007199254740993} ', '{"a":1,"b":9007199254740993}\n '],
      ['{\n"a":"\\ud800","b":"\\\\ud800","c":"\\\\\\udfff"}', '{\n"a":"\ufffd","b":"\\\\ud800","c":"\\\\\ufffd"}'],
      ['{}', '{}'],
    ];
    for (const [before, after] of repairs) {
      assert.equal(readableStoredText(before), after);
      assert.equal(readableStoredText(after), after);
    }
  });

  it('leaves everything else as it is', () => {
    for (const text of [
      '{ "b":1.0, "a":1e2}',
      '{"a":9007199254740993}\n ',
      '{"path":"C:\\\\udata\\\\ud800"}',
      '7',
      '',
      ' ',
    ]) {
      assert.equal(readableStoredText(text), text);
    }
  });

  it('takes time linear in the text', () => {
    const hostile = `{"a":"${'\\\\'.repeat(500_000)}ud800 ${'\\\\ud'.repeat(100_000)}"}`;
    const began = process.cpuUsage();
    assert.equal(hasSurrogateEscape(hostile), false);
    const { user } = process.cpuUsage(began);
    assert.ok(user < 2_000_000, `${user} µs`);
  });
});

describe('plainJson', () => {
  it('shares what needs no change', () => {
    const value = parseExactJson('{"a":[1,{"b":"x"}],"c":{"d":1.0},"e":9007199254740993}') as Record<string, unknown>;
    const plain = plainJson(value) as Record<string, unknown>;
    assert.equal(plain.a, value.a);
    assert.notEqual(plain.c, value.c);
    assert.equal(plainJson(plain), plain);
  });

  it('refuses what JSON has no number for', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, [Number.NEGATIVE_INFINITY]]) {
      assert.throws(() => plainJson(value), { name: 'ValueFormatError' });
    }
  });
});
