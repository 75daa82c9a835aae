import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machinePace, processorMs } from '../../../../test/support/processor-time.js';
import { coversToleration, mergeTolerations } from './tolerations.js';

describe('tolerations', () => {
  const exists = { operator: 'Exists' } as const;
  const cases: readonly (readonly [object, object, boolean])[] = [
    [exists, { key: 'a', value: 'b', effect: 'NoSchedule' }, true],
    [{ key: 'a', ...exists }, { key: 'a', value: 'b' }, true],
    [{ key: 'a', ...exists }, { key: 'b', value: 'b' }, false],
    [{ key: 'a', value: 'b' }, { key: 'a', operator: 'Equal', value: 'b' }, true],
    [{ key: 'a', value: 'b' }, { key: 'a', ...exists }, false],
    [{ key: 'a', ...exists, effect: 'NoSchedule' }, { key: 'a', ...exists }, false],
    [
      { ...exists, effect: 'NoExecute', tolerationSeconds: 5 },
      { ...exists, effect: 'NoExecute', tolerationSeconds: 4 },
      true,
    ],
    [{ ...exists, effect: 'NoExecute', tolerationSeconds: 5 }, { ...exists, effect: 'NoExecute' }, false],
  ];
  for (const [a, b, expected] of cases) {
    it(`${JSON.stringify(a)} ${expected ? 'covers' : 'does not cover'} ${JSON.stringify(b)}`, () => {
      assert.equal(coversToleration(a, b), expected);
    });
  }
  it('merge without those that others cover, however many there are', () => {
    assert.deepEqual(mergeTolerations([{ key: 'a' }, { key: 'b' }], [{ key: 'a' }]), [{ key: 'a' }, { key: 'b' }]);
    assert.deepEqual(mergeTolerations([{ key: 'a', value: 'b' }], [{ key: 'a', ...exists }]), [
      { key: 'a', ...exists },
    ]);
    const many = Array.from({ length: 50_000 }, (_, i) => ({ key: `k${i}` }));
    const begin = processorMs();
    assert.equal(mergeTolerations(many, [{ key: 'x' }]).length, 50_001);
    assert.ok(processorMs() - begin < 100 * machinePace());
  });
  it('merge quickly up to the longest lists that are compared', () => {
    const list = (name: string) =>
      Array.from({ length: 200 }, (_, i) => ({ key: 'same', value: `${name}${i}`, tolerationSeconds: i }));
    const [a, b] = [list('a'), list('b')];
    // Measures CPU time, and takes the best of several runs, since the machine does other work meanwhile.
    const times = Array.from({ length: 5 }, () => {
      const begin = processorMs();
      assert.equal(mergeTolerations(a, b).length, 400);
      return processorMs() - begin;
    });
    assert.ok(Math.min(...times) < 40 * machinePace(), `${times}`);
  });
});
