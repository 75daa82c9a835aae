import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dealHand } from './flow-hash.js';
import { FlowHasher } from './flow-hasher.js';
import { simulatedHasher } from './testing/flow-simulation.js';

describe('the hand of a flow', () => {
  it('has different queues, the same each time', () => {
    for (const [queues, handSize] of [
      [64, 6],
      [128, 6],
      [16, 4],
      [8, 8],
      [1, 1],
    ] as const) {
      for (let i = 0; i < 200; i++) {
        const hand = dealHand(simulatedHasher.of('schema', `flow-${i}`), queues, handSize);
        assert.equal(new Set(hand).size, handSize);
        assert.ok(
          hand.every((queue) => Number.isInteger(queue) && queue >= 0 && queue < queues),
          hand.join(),
        );
        assert.deepEqual(dealHand(simulatedHasher.of('schema', `flow-${i}`), queues, handSize), hand);
      }
    }
  });

  it('of service accounts leaves queues to those of other namespaces, however many accounts there are', () => {
    for (const [queues, handSize, most] of [
      [128, 6, 43],
      [16, 4, 8],
      [1000, 2, 64],
    ] as const) {
      const handOf = (namespace: string, name: string) =>
        simulatedHasher.ofUser('schema', `system:serviceaccount:${namespace}:${name}`).dealt(queues, handSize);
      const taken = new Set(Array.from({ length: 3000 }, (_, i) => handOf('greedy', String(i))).flat());
      assert.ok(taken.size <= most && taken.size > most / 2, String(taken.size));
      const others = Array.from({ length: 1000 }, (_, i) => handOf(`team-${i}`, 'x'));
      assert.ok(others.every((hand) => hand.length === handSize && new Set(hand).size === handSize));
      const covered = others.filter((hand) => hand.every((queue) => taken.has(queue))).length;
      assert.ok(covered < 0.12 * others.length, `${covered} of ${others.length} with ${queues} queues`);
      assert.ok(new Set(others.flat()).size > 0.8 * queues, 'the others have all queues');
      // When a hand would be most of its neighbourhood, it is dealt from all queues.
      assert.equal(new Set(simulatedHasher.ofUser('s', 'system:serviceaccount:a:b').dealt(8, 6)).size, 6);
    }
  });

  it('can not be found out without the secret of the process', () => {
    const secrets = [1, 2].map((byte) => new FlowHasher(Buffer.alloc(32, byte)));
    const [known, real] = secrets as [FlowHasher, FlowHasher];
    const handOf = (hasher: FlowHasher, name: string) => hasher.ofUser('schema', name).dealt(128, 6);
    const wanted = new Set(handOf(known, 'victim'));
    // An attacker who knows the secret finds names that share most queues of the victim.
    const names = Array.from({ length: 200_000 }, (_, i) => `name-${i}`);
    const shared = (hasher: FlowHasher, name: string, of: ReadonlySet<number>) =>
      handOf(hasher, name).filter((queue) => of.has(queue)).length;
    const found = names.filter((name) => shared(known, name, wanted) >= 4);
    assert.ok(found.length >= 3, String(found.length));
    const own = new Set(handOf(real, 'victim'));
    const mean = found.reduce((sum, name) => sum + shared(real, name, own), 0) / found.length;
    assert.ok(mean < 1.5, String(mean));
    const [a, b] = [new FlowHasher(), new FlowHasher()].map((hasher) => hasher.of('schema', 'victim'));
    assert.notDeepEqual([a?.high, a?.low], [b?.high, b?.low]);
  });

  it('spreads flows over all queues, and rarely covers another one', () => {
    const load = new Array<number>(64).fill(0);
    const hands = Array.from({ length: 2000 }, (_, i) => dealHand(simulatedHasher.of('schema', `user-${i}`), 64, 6));
    for (const hand of hands) for (const queue of hand) load[queue] = (load[queue] as number) + 1;
    const expected = (2000 * 6) / 64;
    assert.ok(Math.min(...load) > expected * 0.6 && Math.max(...load) < expected * 1.4, load.join());
    // With sixteen heavy flows, a small one shares all of its queues with them about once in a thousand cases.
    const taken = new Set(hands.slice(0, 16).flat());
    const covered = hands.slice(16).filter((hand) => hand.every((queue) => taken.has(queue))).length;
    assert.ok(covered < 0.4 * hands.length, `${covered} of ${hands.length}`);
    const same = hands.filter((hand, i) => i > 0 && hand.every((queue) => (hands[0] as number[]).includes(queue)));
    assert.equal(same.length, 0);
  });
});
