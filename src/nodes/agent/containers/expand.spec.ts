import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expand } from './expand.js';

describe('expand', () => {
  it('replaces references with values and leaves the others, and $$ stands for $', () => {
    const values: Record<string, string> = { A: '1', B: '$(A)' };
    const cases = [
      ['$(A)-$(B)', '1-$(A)'],
      ['$$(A) $$$(A)', '$(A) $1'],
      ['$(NONE) $(A', '$(NONE) $(A'],
      ['$A $', '$A $'],
      ['', ''],
    ] as const;
    for (const [text, wanted] of cases)
      assert.equal(
        expand(text, (name) => values[name]),
        wanted,
        text,
      );
  });
});
