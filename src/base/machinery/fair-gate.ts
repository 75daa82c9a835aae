import { invariant } from './invariant.js';
import { PartyQueue } from './party-queue.js';

interface Waiting {
  readonly weight: number;
  admit(): void;
}

/**
 * Admits a limited total weight at one time. Callers that don't fit wait, and parties (namespaces) take turns. A single
 * party may fill the gate; its waiting callers hold up only that party.
 */
export class FairGate {
  private readonly waiting = new PartyQueue<Waiting>();
  /** The caller whose turn it is, while it does not fit yet. */
  private held: Waiting | undefined;
  private inside = 0;

  /** @param most sum of the weights inside; a heavier caller enters when nothing else is inside */
  constructor(private readonly most: number) {}

  /** Resolves when the caller is admitted, with the function to call once when it leaves. */
  async enter(party: string, weight = 1): Promise<() => void> {
    if (this.held !== undefined || this.waiting.size > 0 || !this.fits(weight)) {
      await new Promise<void>((admit) => this.waiting.add(party, { weight, admit }));
    } else this.inside += weight;
    let isInside = true;
    return () => {
      invariant(isInside, 'a caller leaves a gate once', party);
      isInside = false;
      this.inside -= weight;
      this.admitNext();
    };
  }

  /** Runs the work inside the gate; resolves or rejects as the work does. */
  async run<T>(party: string, weight: number, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(party, weight);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  private fits(weight: number): boolean {
    return this.inside === 0 || this.inside + weight <= this.most;
  }

  private admitNext(): void {
    for (;;) {
      // A caller that is too heavy now keeps its turn: otherwise lighter ones would always enter before it.
      this.held ??= this.waiting.take()?.item;
      const next = this.held;
      if (next === undefined || !this.fits(next.weight)) return;
      this.held = undefined;
      // The caller's weight is counted at once, before the caller continues.
      this.inside += next.weight;
      next.admit();
    }
  }
}
