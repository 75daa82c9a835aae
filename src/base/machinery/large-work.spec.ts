import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isLarge, LargeWork, throwIfLargeBody } from './large-work.js';

const text = (content: string) => JSON.stringify({ metadata: { name: 'a' }, data: { content } });

it('counts values, not the characters of strings', () => {
  assert.equal(isLarge(text('x'.repeat(1_000_000))), false);
  assert.equal(isLarge(text('key: value\n'.repeat(90_000))), false);
  assert.equal(isLarge(text('"\\'.repeat(15_000).padEnd(500_000, 'x'))), false);
  assert.equal(
    isLarge(
      JSON.stringify({ data: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [i, text('x'.repeat(1000))])) }),
    ),
    false,
  );
  assert.equal(isLarge(JSON.stringify(Array.from({ length: 20_000 }, (_, i) => `value ${i}`))), true);
  assert.equal(isLarge('['.repeat(70_000)), true);
  assert.equal(isLarge(' '.repeat(70_000)), true);
  assert.equal(isLarge(text('"'.repeat(40_000))), true);
  assert.equal(isLarge(text('x'.repeat(1_600_000))), true);
});

it('does not mistake a part of a string for its end', () => {
  const structure = '[1,2,3],'.repeat(10_000);
  assert.equal(isLarge(JSON.stringify([`\\"${structure}`, `\\\\"${structure}\\`, structure])), false);
  assert.equal(isLarge(`["\\\\",${structure}1]`), true);
  assert.equal(isLarge(`["\\\\\\"",${structure}1]`), true);
});

it('never counts small text, and counts every character of costly long text', () => {
  assert.equal(isLarge('['.repeat(60_000), true), false);
  assert.equal(isLarge(text('x'.repeat(100_000)), true), true);
});

it('interrupts only requests that can move to another thread', () => {
  const body = Buffer.from(JSON.stringify(Array.from({ length: 20_000 }, (_, i) => i)));
  assert.throws(() => throwIfLargeBody({ mayChangeThread: true }, body), LargeWork);
  throwIfLargeBody({ mayChangeThread: false }, body);
  throwIfLargeBody({}, body);
});
