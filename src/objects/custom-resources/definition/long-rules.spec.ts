import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LongRules } from './long-rules.js';

it('expects long rules of a tenant that had some, for a number of objects, and of nobody else', () => {
  const rules = new LongRules();
  assert.equal(rules.isExpected('greedy'), false);
  rules.seen('greedy');
  for (let i = 0; i < 64; i++) assert.equal(rules.isExpected('greedy'), true, String(i));
  assert.equal(rules.isExpected('greedy'), false, 'one object is tried again');
  rules.seen('greedy');
  assert.equal(rules.isExpected('modest'), false);
  for (let i = 0; i < 1_000; i++) rules.seen(`other-${i}`);
  assert.equal(rules.isExpected('greedy'), false, 'the memory is bounded');
});
