/**
 * A number that identifies the flow of a request, in two halves, because a single one has too few bits for a large
 * hand.
 */
export class FlowHash {
  private hand: readonly number[] = [];
  private deckSize = 0;

  /** @param neighbourhood that of the flows of which one owner can make any number */
  constructor(
    readonly high: number,
    readonly low: number,
    private readonly neighbourhood?: FlowHash,
  ) {}

  /**
   * The queues of the flow: `handSize` different numbers below `deckSize`, cached until other sizes are requested.
   * Flows of one neighbourhood share a third of all queues, or twice the size of a hand if that is more.
   */
  dealt(deckSize: number, handSize: number): readonly number[] {
    if (deckSize !== this.deckSize || handSize !== this.hand.length) {
      this.hand = this.deal(deckSize, handSize);
      this.deckSize = deckSize;
    }
    return this.hand;
  }

  private deal(deckSize: number, handSize: number): readonly number[] {
    const nearby = Math.min(mostNearby, Math.max(2 * handSize, Math.ceil(deckSize / 3)));
    if (this.neighbourhood === undefined || nearby >= deckSize) return dealHand(this, deckSize, handSize);
    const queues = this.neighbourhood.dealt(deckSize, nearby);
    return dealHand(this, nearby, handSize).map((card) => queues[card] as number);
  }
}

/** Maximum number of queues in a neighbourhood; dealing a hand from this many is fast. */
const mostNearby = 64;

/**
 * The queues of a flow: `handSize` different numbers below `deckSize`. They depend only on the hash and are as random
 * as the hash, so that two flows rarely share all of their queues.
 */
export function dealHand({ high, low }: Pick<FlowHash, 'high' | 'low'>, deckSize: number, handSize: number): number[] {
  const hand: number[] = [];
  let a = high;
  let b = low;
  for (let dealt = 0; dealt < handSize; dealt++) {
    // A small pseudo-random generator with 64 bits of state (like xoroshiro), which is enough to spread flows.
    b ^= a;
    a = ((a << 26) | (a >>> 6)) ^ b ^ (b << 9);
    b = (b << 13) | (b >>> 19);
    let card = ((Math.imul(a, 0x9e3779bb) >>> 0) + dealt * 0x9e3779b9) % (deckSize - dealt);
    // Picks the number at position `card` among the remaining ones, without a list of these.
    const taken = [...hand].sort((x, y) => x - y);
    for (const other of taken) if (other <= card) card++;
    hand.push(card);
  }
  return hand;
}
