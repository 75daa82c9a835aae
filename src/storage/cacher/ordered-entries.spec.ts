import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random, testSeeds } from '../../../test/support/random.js';
import { compareBytewise } from '../../base/machinery/compare-bytewise.js';
import { comparePositions } from '../key-order.js';
import type { ListPosition } from '../storage.interface.js';
import { OrderedEntries } from './ordered-entries.js';

interface Entry extends ListPosition {
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
          const entry = { ...key, n };
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
          .filter((entry) => filter.namespace === undefined || entry.namespace === filter.namespace)
          .filter((entry) => filter.name === undefined || entry.name === filter.name)
          .filter((entry) => after === undefined || comparePositions(entry, after) > 0)
          .sort((a, b) => byBytes(a.namespace, b.namespace) || byBytes(a.name, b.name));
        assert.equal(entries.count(filter, after), expected.length);
        const most = random.below(expected.length + 2);
        const found: Entry[] = [];
        entries.visit(filter, after, (entry) => found.push(entry) < most);
        assert.deepEqual(found, expected.slice(0, Math.max(1, most)));
      }
    });
  }

  it('agrees with a sorted list of many entries of one namespace', () => {
    const random = new Random(11);
    const entries = new OrderedEntries<Entry>();
    const model = new Map<string, Entry>();
    const namespace = 'one';
    const check = () => {
      const expected = [...model.values()].sort((a, b) => byBytes(a.name, b.name));
      assert.equal(entries.size, expected.length);
      const found: Entry[] = [];
      entries.visit({ namespace }, undefined, (entry) => found.push(entry) > 0);
      assert.deepEqual(found, expected);
      for (let i = 0; i < 50; i++) {
        const at = random.below(expected.length);
        const after = expected[at] as Entry;
        assert.equal(entries.count({}, after), expected.length - at - 1);
        assert.equal(entries.get(namespace, after.name), after);
        const next: Entry[] = [];
        entries.visit({}, after, (entry) => next.push(entry) < 3);
        assert.deepEqual(next, expected.slice(at + 1, at + 4));
        const name = `${after.name}/`;
        assert.equal(entries.get(namespace, name), undefined);
        assert.equal(entries.count({ namespace, name: after.name }, { namespace, name }), 0);
        assert.equal(entries.count({ namespace }, { namespace, name }), expected.length - at - 1);
      }
    };
    for (const share of [1, 0.4, 0.02, 0.5]) {
      const wanted = Math.floor(share * 6_000);
      for (let n = 0; model.size !== wanted; n++) {
        const isGrowing = model.size < wanted;
        const name = isGrowing ? `n${random.below(20_000)}` : (random.pick([...model.keys()]) as string);
        const entry = { namespace, name, n };
        if (isGrowing) {
          assert.equal(entries.set(entry), model.get(name));
          model.set(name, entry);
        } else {
          assert.equal(entries.delete(namespace, name), model.get(name));
          model.delete(name);
        }
      }
      check();
    }
  });
});
