import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random, testSeeds } from '../../../test/support/random.js';
import { LargeMap } from './large-map.js';

describe('LargeMap', () => {
  for (const seed of testSeeds('large map')) {
    it(`has the entries of a map (seed ${seed})`, () => {
      const random = new Random(seed);
      const large = new LargeMap<number>();
      const plain = new Map<string, number>();
      for (let step = 0; step < 5_000; step++) {
        const key = `${random.pick(['', 'a/', 'ns/é-'])}${random.below(800)}`;
        if (random.chance(0.3)) assert.equal(large.delete(key), plain.delete(key));
        else {
          large.set(key, step);
          plain.set(key, step);
        }
        assert.equal(large.size, plain.size);
        assert.equal(large.has(key), plain.has(key));
        assert.equal(large.get(key), plain.get(key));
      }
      assert.deepEqual([...large.keys()].sort(), [...plain.keys()].sort());
      assert.deepEqual(
        [...large.values()].sort((a, b) => a - b),
        [...plain.values()].sort((a, b) => a - b),
      );
    });
  }

  it('shows what stays while it changes', () => {
    const large = new LargeMap<string>();
    for (let i = 0; i < 3_000; i++) large.set(`o-${i}`, `o-${i}`);
    const shown = new Map<string, number>();
    let i = 0;
    for (const value of large.values()) {
      shown.set(value, (shown.get(value) ?? 0) + 1);
      large.delete(`o-${3 * i}`);
      large.set(`new-${i}`, `new-${i}`);
      i = (i + 1) % 1_000;
    }
    for (let k = 0; k < 3_000; k++) if (k % 3 !== 0) assert.equal(shown.get(`o-${k}`), 1, `o-${k}`);
  });

  it('spreads the keys that objects have', () => {
    const kinds = [
      (i: number) => `default/o-${i}`,
      (i: number) => `ns-${i % 1_000}/web-7d4b9c-${(i * 7_919).toString(36).padStart(5, '0').slice(-5)}`,
      (i: number) =>
        `${(i * 2_654_435_761).toString(16).padStart(12, '0')}-4000-8000-${(i * 40_503).toString(16).padStart(12, '0')}`,
    ];
    for (const keyOf of kinds) {
      const large = new LargeMap<number>();
      for (let i = 0; i < 20_000; i++) large.set(keyOf(i), i);
      const shards = (large as unknown as { shards: ReadonlyMap<string, number>[] }).shards;
      const most = Math.max(...shards.map(({ size }) => size));
      assert.ok(most < (8 * large.size) / shards.length, `${keyOf(1)}: ${most} of ${large.size} in one`);
    }
  });
});
