import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseInTurns } from './parse-in-turns.js';

it('parses JSON as JSON.parse does', async () => {
  const texts = [
    '{}',
    '[]',
    '{ "a" : [ ] , "b" : { } }',
    '{"":"","a\\"b":"\\u00e9\\\\","__proto__":{"x":1},"constructor":null}',
    '[1,-1.5e3,true,false,null,"",[[[]]],{"a":[{"b":{}}]}]',
    '"text"',
    '12',
    JSON.stringify({ rules: Array.from({ length: 20_000 }, (_, i) => ({ verbs: ['get'], name: `r${i}`, n: i })) }),
  ];
  for (const text of texts) {
    const parsed = await parseInTurns(text);
    assert.deepEqual(parsed, JSON.parse(text));
    assert.equal(JSON.stringify(parsed), JSON.stringify(JSON.parse(text)));
  }
});

it('keeps the spelling of numbers when asked to', async () => {
  const text = '{"a":1.0,"b":[12345678901234567890,1e3,-0]}';
  assert.equal(JSON.stringify(await parseInTurns(text, true)), text);
});

it('lets other work have its turn', async () => {
  const text = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => i));
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await parseInTurns(text);
  isDone = true;
  assert.ok(turns >= 10, `${turns} turns`);
});

it('ends a turn early when tokens are long', async () => {
  const text = JSON.stringify(Array.from({ length: 4_000 }, () => '\n'.repeat(5_000)));
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const began = performance.now();
  await parseInTurns(text);
  isDone = true;
  const took = performance.now() - began;
  // Without the clock, parsing would take a single turn.
  assert.ok(turns >= 3, `${turns} turns in ${took} ms`);
});
