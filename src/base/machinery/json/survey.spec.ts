import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mayHaveExactNumbers, parseJson } from './exact-numbers.js';
import { maxDepth } from './nesting.js';
import { NestingError } from './nesting-error.js';
import { countKeys, surveyJson } from './survey.js';

const survey = (text: string) => surveyJson(Buffer.from(text));

it('counts the keys of all objects, whatever stands in strings and between tokens', () => {
  const cases: [text: string, keys: number][] = [
    ['{}', 0],
    ['{"a":1}', 1],
    ['{"a" \n :1,"a":2}', 2],
    ['{"a":{"b":[{"c":1},{"c":":"}]},"d":"\\":\\"x\\":"}', 5],
    ['{"\\\\":"\\\\","ä€😀":"😀\\u0022:"}', 2],
    ['["a",":","b"]', 0],
    ['"a"', 0],
  ];
  for (const [text, keys] of cases) assert.equal(survey(text).keys, keys, text);
});

it('counts as many keys in the value as in the text, except for duplicates', () => {
  const text = '{"__proto__":{"a":1.0,"b":null},"1":[{"c":-0},[{"d":12345678901234567890}],"e",1],"f":{}}';
  assert.equal(countKeys(parseJson(text)), survey(text).keys);
  const twice = '{"a":{"b":1,"c":2},"a":1.0}';
  assert.equal(countKeys(parseJson(twice)), survey(twice).keys - 3);
});

it('finds the numbers that need care in parsing', () => {
  const numbers = [
    '0',
    '-1',
    '7',
    '123456789012345',
    '-123456789012345',
    '1234567890123456',
    '1.0',
    '-0',
    '-0.5',
    '1e3',
  ];
  for (const number of [...numbers, '1E+3', '10', '-10', '0.25', '-12345678901234567']) {
    for (const text of [`{"a":${number}}`, `[1, ${number}]`, `{"a":[ ${number} ,"1.0"]}`]) {
      assert.equal(survey(text).mayHaveExactNumbers, mayHaveExactNumbers(text.replace('"1.0"', '""')), text);
    }
  }
  assert.equal(survey('{"1.5":"1.5 -0 12345678901234567"}').mayHaveExactNumbers, false);
  assert.equal(survey('1.5').mayHaveExactNumbers, false);
});

it('refuses what is nested too deeply, and reads broken text to its end', () => {
  assert.throws(() => survey('['.repeat(maxDepth + 1)), NestingError);
  assert.equal(survey('['.repeat(maxDepth) + ']'.repeat(maxDepth)).keys, 0);
  for (const text of ['{"a', '{"a\\', '"', '{"a":-', '-', '', '{"a" ', '}]']) survey(text);
});
