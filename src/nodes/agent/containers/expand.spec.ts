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

  it('makes no text with which no program could start, and takes no time for references without an end', {
    timeout: 120_000,
  }, () => {
    const values = new Map([['v0', 'x'.repeat(64)]]);
    const lookUp = (name: string) => values.get(name);
    assert.throws(
      () => {
        for (let i = 1; i < 60; i++) values.set(`v${i}`, expand(`$(v${i - 1})$(v${i - 1})`, lookUp));
      },
      { message: 'the arguments and the environment are larger than a program can start with' },
    );
    assert.ok([...values.values()].every(({ length }) => length <= 6 * 2 ** 20));
    const many = '$('.repeat(1_000_000);
    assert.equal(expand(many, lookUp), many);
    assert.equal(expand(`)${many}$$`, lookUp), `)${many}$`);
  });
});
