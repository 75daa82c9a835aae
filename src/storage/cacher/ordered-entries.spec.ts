import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random, testSeeds } from '../../../test/support/random.js';
import type { ListPosition } from '../storage.interface.js';
import { compareBytewise, comparePositions } from './key-order.js';
import { OrderedEntries } from './ordered-entries.js';

interface Entry {
  readonly key: ListPosition;
  readonly n: number;
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const names = ['a', 'a-', 'b', 'ab', 'é', '漢', '😀', '\uffee', '\ue000', '\u{10fffe}', 'z', 'Z', '0', 'a.b'];

describe('compareBytewise', () => {
  it('orders by the bytes of UTF-8', () => {
    const random = new Random(7);
    const word = () => Array.from({ length: random.below(4) }, () => random.pick(names)).join('');
    for (let i = 0; i < 5_000; i++) {
      const [a, b] = [word(), word()];
      assert.equal(Math.sign(compareBytewise(a, b)), Math.sign(byBytes(a, b)), JSON.stringify([a, b]));
    }
  });
});

describe('OrderedEntries', () => {
  for (const seed of testSeeds('OrderedEntries')) {
    it(`agrees with a sorted list after any operations (seed ${seed})`, () => {
      const random = new Random(seed);
      const entries = new OrderedEntries<Entry>();
      const model = new Map<string, Entry>();
      const anyKey = (): ListPosition => ({ namespace: random.pick(['', ...names]), name: random.pick(names) });
      for (let n = 0; n < 3_000; n++) {
        const key = anyKey();
        const id = JSON.stringify(key);
        if (random.chance(0.4)) {
          assert.equal(entries.delete(key.namespace, key.name), model.get(id));
          model.delete(id);
        } else {
          const entry = { key, n };
          assert.equal(entries.set(entry), model.get(id));
          model.set(id, entry);
        }
        assert.equal(entries.size, model.size);
        assert.equal(entries.get(key.namespace, key.name), model.get(id));
        if (n % 10 > 0) continue;
        const filter = {
          namespace: random.chance(0.5) ? anyKey().namespace : undefined,
          name: random.chance(0.2) ? anyKey().name : undefined,
        };
        const after = random.chance(0.5) ? anyKey() : undefined;
        const expected = [...model.values()]
          .filter((entry) => filter.namespace === undefined || entry.key.namespace === filter.namespace)
          .filter((entry) => filter.name === undefined || entry.key.name === filter.name)
          .filter((entry) => after === undefined || comparePositions(entry.key, after) > 0)
          .sort((a, b) => byBytes(a.key.namespace, b.key.namespace) || byBytes(a.key.name, b.key.name));
        assert.equal(entries.count(filter, after), expected.length);
        const most = random.below(expected.length + 2);
        const found: Entry[] = [];
        entries.visit(filter, after, (entry) => found.push(entry) < most);
        assert.deepEqual(found, expected.slice(0, Math.max(1, most)));
      }
    });
  }
});
