import { PartyQueue } from './party-queue.js';

interface Waiting {
  readonly weight: number;
  admit(): void;
}

/**
 * Lets so much in at one time. What does not fit waits, and parties (namespaces) take turns. A party alone may fill the gate;
 * what it has waiting holds up only its own.
 */
export class FairGate {
  private readonly waiting = new PartyQueue<Waiting>();
  /** The next one, which has no room yet. */
  private held: Waiting | undefined;
  private inside = 0;

  /** @param most sum of the weights inside; something heavier goes in when nothing else is inside */
  constructor(private readonly most: number) {}

  /** Resolves when the caller is in, with what it has to call once when it leaves. */
  async enter(party: string, weight = 1): Promise<() => void> {
    if (this.held !== undefined || this.waiting.size > 0 || !this.hasRoomFor(weight)) {
      await new Promise<void>((admit) => this.waiting.add(party, { weight, admit }));
    } else this.inside += weight;
    return () => {
      this.inside -= weight;
      this.admitNext();
    };
  }

  /** Does the work inside; resolves or rejects as it does. */
  async run<T>(party: string, weight: number, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(party, weight);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  private hasRoomFor(weight: number): boolean {
    return this.inside === 0 || this.inside + weight <= this.most;
  }

  private admitNext(): void {
    for (;;) {
      // What is too heavy now is the next one all the same: lighter ones would go in for ever before it.
      this.held ??= this.waiting.take()?.item;
      const next = this.held;
      if (next === undefined || !this.hasRoomFor(next.weight)) return;
      this.held = undefined;
      // The place is taken at once, before the one that waits goes on.
      this.inside += next.weight;
      next.admit();
    }
  }
}
