import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseJson } from './exact-numbers.js';
import { checkNesting, maxDepth } from './nesting.js';
import { NestingError } from './nesting-error.js';

it('refuses only text that is nested too deeply', () => {
  const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  checkNesting(lists(maxDepth));
  assert.throws(() => checkNesting(lists(maxDepth + 1)), NestingError);
  assert.throws(() => parseJson(`{"a":${lists(1_000_000)}}`), NestingError);
  assert.throws(() => checkNesting('{"a":'.repeat(1_000_000)), NestingError);
  // Consecutive brackets are not nested.
  checkNesting(`[${'{"a":[]},'.repeat(10_000)}1]`);
});

it('treats brackets inside strings as text', () => {
  const brackets = '[{'.repeat(5_000);
  for (const text of [`"${brackets}"`, `"\\"${brackets}"`, `"\\\\\\"${brackets}"`, `"\\\\","${brackets}"`]) {
    checkNesting(`[${text}]`);
    assert.ok(Array.isArray(parseJson(`[${text}]`)));
  }
  assert.throws(() => checkNesting(`["\\\\"${brackets}`), NestingError);
  // The brackets never end, so this is not JSON; the parser reports that.
  checkNesting(`"${brackets}`);
});
