import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addForeignAnnotations } from './foreign-annotations.js';

describe('annotations of other servers', () => {
  it('get a prefix, and those with faulty keys are left out', () => {
    const annotations = new Map([['h.x.y/old', 'o']]);
    const wanted = { good: '1', 'a/b': '2', 'not good': '3', '': '4', old: '5' };
    const leftOut = addForeignAnnotations(annotations, 'h.x.y', wanted);
    assert.deepEqual(
      [...annotations],
      [
        ['h.x.y/old', 'o'],
        ['h.x.y/good', '1'],
      ],
    );
    assert.deepEqual(leftOut, { count: 4, key: 'h.x.y/a/b', problem: 'must have no prefix of its own' });
    assert.equal(addForeignAnnotations(annotations, 'h.x.y', {}), undefined);
  });

  it('are bounded in length and number', () => {
    const annotations = new Map<string, string>();
    const wanted = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 'x'.repeat(i < 100 ? 20_000 : 1)]),
    );
    const leftOut = addForeignAnnotations(annotations, 'h.x.y', wanted);
    assert.equal(annotations.size, 32);
    assert.equal(annotations.get('h.x.y/k0')?.length, 10 * 1024);
    assert.deepEqual(leftOut, { count: 49_968, key: 'h.x.y/k32', problem: 'more than 32 annotations' });
  });
});
