import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addWarning } from './request-context.js';

function warned(texts: Iterable<string>): string[] {
  const context = { warnings: [] as string[] };
  for (const text of texts) addWarning(context, text);
  return context.warnings;
}

const numbers = (count: number, length: number) => Array.from({ length: count }, (_, i) => `${i} `.padEnd(length, 'x'));
const total = (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, 0);

describe('warnings of an answer', () => {
  it('are whole as long as all fit, and there once', () => {
    assert.deepEqual(warned(['a', 'b'.repeat(4000), 'a']), ['a', 'b'.repeat(4000)]);
  });

  it('are all cut once they do not fit', () => {
    const cut = warned(['a'.repeat(3000), 'b', 'c'.repeat(2000), 'd']);
    assert.deepEqual(cut, ['a'.repeat(256), 'b', 'c'.repeat(256), 'd']);
    assert.deepEqual(warned(['x'.repeat(5000)]), ['x'.repeat(256)]);
  });

  it('are not too long together', () => {
    const long = warned(numbers(100, 300));
    assert.ok(total(long) >= 4096 && total(long) < 4096 + 256, `${total(long)}`);
    assert.ok(long.every(({ length }) => length === 256));
  });

  it('are not too many', () => {
    assert.deepEqual(warned(numbers(100, 5)), numbers(64, 5));
    const context = { warnings: numbers(64, 5) };
    assert.equal(addWarning(context, 'more'), false);
  });

  it('have no half characters', () => {
    const [text = ''] = warned([`${'x'.repeat(255)}${'😀'.repeat(2000)}`]);
    assert.equal(text, 'x'.repeat(255));
  });
});
