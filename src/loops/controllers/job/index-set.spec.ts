import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processorMs } from '../../../../test/support/processor-time.js';
import { IndexSet } from './index-set.js';

describe('IndexSet', () => {
  for (const [indexes, text] of [
    [[], ''],
    [[4], '4'],
    [[1, 2], '1,2'],
    [[7, 3, 5, 4, 1, 4], '1,3-5,7'],
    [[0, 1, 2, 4, 5, 9], '0-2,4,5,9'],
  ] as const) {
    it(`writes ${JSON.stringify(indexes)} as "${text}" and reads it`, () => {
      const set = IndexSet.of(indexes);
      assert.equal(set.toString(), text);
      assert.equal(IndexSet.parse(text).toString(), text);
      assert.equal(set.size, new Set(indexes).size);
      for (let i = -1; i < 12; i++) assert.equal(set.has(i), (indexes as readonly number[]).includes(i), String(i));
    });
  }

  it('leaves out what a smaller job has not, and what makes no sense', () => {
    assert.equal(IndexSet.parse('1,3-5,7', 5).toString(), '1,3,4');
    assert.equal(IndexSet.parse('x,2,-1,5-4').toString(), '2');
  });

  it('adds indexes and counts common ones', () => {
    const set = IndexSet.parse('0-4,8').with([6, 5, 8]);
    assert.equal(set.toString(), '0-6,8');
    assert.equal(set.countIn(IndexSet.parse('4-10')), 4);
  });

  it('finds the next free index, and counts common ones, without looking at each', () => {
    const begun = processorMs();
    const most = IndexSet.parse('2-2147483640,2147483645');
    assert.equal(most.firstFreeFrom(0), 0);
    assert.equal(most.firstFreeFrom(2), 2147483641);
    assert.equal(most.firstFreeFrom(2147483645), 2147483646);
    const odd = IndexSet.of(Array.from({ length: 50_000 }, (_, i) => 2 * i + 1));
    const third = IndexSet.of(Array.from({ length: 50_000 }, (_, i) => 3 * i));
    assert.equal(odd.countIn(third), 16_667);
    assert.equal(odd.countIn(most), 49_999);
    assert.equal(most.countIn(odd), 49_999);
    assert.ok(processorMs() - begun < 2000);
  });

  it('stays small for long runs', () => {
    const set = IndexSet.parse('0-99999');
    assert.equal(set.size, 100_000);
    assert.equal(set.with([100_000]).toString(), '0-100000');
  });
});
