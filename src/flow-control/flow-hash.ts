/** A number that says which flow a request belongs to; two halves, because one has too few bits for a large hand. */
export class FlowHash {
  private hand: readonly number[] = [];
  private deckSize = 0;

  constructor(
    readonly high: number,
    readonly low: number,
  ) {}

  /** {@link dealHand}, remembered for as long as it is asked for the same. */
  dealt(deckSize: number, handSize: number): readonly number[] {
    if (deckSize !== this.deckSize || handSize !== this.hand.length) {
      this.hand = dealHand(this, deckSize, handSize);
      this.deckSize = deckSize;
    }
    return this.hand;
  }
}

/** The hash of a flow: FNV-1a over both names, with two offsets. */
export function hashFlow(schema: string, distinguisher: string): FlowHash {
  let low = 0x811c9dc5;
  let high = 0x050c5d1f;
  for (const text of [schema, '\u0000', distinguisher]) {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ (code + i), 0x01000193);
    }
  }
  return new FlowHash(high >>> 0, low >>> 0);
}

/**
 * The queues of a flow: `handSize` different numbers below `deckSize`, the same for the same hash, as random as the hash
 * is. So two flows rarely share all of their queues.
 */
export function dealHand({ high, low }: Pick<FlowHash, 'high' | 'low'>, deckSize: number, handSize: number): number[] {
  const hand: number[] = [];
  let a = high;
  let b = low;
  for (let dealt = 0; dealt < handSize; dealt++) {
    // A small generator of 64 bits of state (xoroshiro's shape), enough to spread flows.
    b ^= a;
    a = ((a << 26) | (a >>> 6)) ^ b ^ (b << 9);
    b = (b << 13) | (b >>> 19);
    let card = ((Math.imul(a, 0x9e3779bb) >>> 0) + dealt * 0x9e3779b9) % (deckSize - dealt);
    // The card-th of those that are left, without a list of them.
    const taken = [...hand].sort((x, y) => x - y);
    for (const other of taken) if (other <= card) card++;
    hand.push(card);
  }
  return hand;
}
