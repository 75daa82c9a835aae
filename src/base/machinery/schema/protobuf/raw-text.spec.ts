import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../json/exact-numbers.js';
import { rawText } from './raw-text.js';

test('a raw value is spelled as upstream spells it', () => {
  const texts = [
    String.raw`{"command":["sh","-c","true \u0026\u0026 echo \u003ca\u003e \u2028"],"b":1,"a":{"z":null}}`,
    '{"b":1,"labels":{"10":"x","9":"y","a":"z"},"list":[{"2":1,"name":"b"},1.50,"\\"\\\\"]}',
    '{}',
    '"text"',
  ];
  for (const text of texts) assert.equal(rawText(parseJson(text)), text);
});
