/**
 * A round with at least this many keys is started while another one is in progress. A round costs the same for any
 * number of keys, most of it in waking the other side, so fewer keys wait for the round in progress. Waiting for more
 * (16) leaves this process idle between rounds: a fifth fewer gets per second by 16 clients, each at the same cost
 * (docs/benchmarks.md).
 */
const FULL_ROUND = 4;
/** Calls stop waiting for a round that takes longer, in milliseconds: its connection may be dead. */
const PATIENCE_MS = 50;

/**
 * Lets calls that arrive during earlier ones share the next round. A round always starts after every call in it was
 * made, so its result is never older than the call.
 */
export class SharedReads<K, V> {
  private readonly load: (keys: readonly K[]) => Promise<readonly V[]>;
  private readonly identify: (key: K) => string;
  private readonly mostRounds: number;
  private readonly mostKeys: number;
  private waiting = new Map<string, { readonly key: K; readonly waiters: Waiter<V>[] }>();
  private rounds = 0;
  private scheduled = false;
  private newestRoundAt = 0;
  private patience: NodeJS.Timeout | undefined;

  /**
   * @param load returns values in the order of the keys
   * @param identify returns the same id for equal keys
   */
  constructor(
    load: (keys: readonly K[]) => Promise<readonly V[]>,
    identify: (key: K) => string,
    mostRounds: number,
    mostKeys = 500,
  ) {
    this.load = load;
    this.identify = identify;
    this.mostRounds = mostRounds;
    this.mostKeys = mostKeys;
  }

  get(key: K): Promise<V> {
    return new Promise((resolve, reject) => {
      const id = this.identify(key);
      const known = this.waiting.get(id);
      if (known === undefined) this.waiting.set(id, { key, waiters: [{ resolve, reject }] });
      else known.waiters.push({ resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.rounds >= this.mostRounds || this.waiting.size === 0) return;
    if (this.rounds > 0 && this.waiting.size < FULL_ROUND) {
      const left = this.newestRoundAt + PATIENCE_MS - performance.now();
      if (left > 0) {
        this.patience ??= setTimeout(() => {
          this.patience = undefined;
          this.schedule();
        }, left).unref();
        return;
      }
    }
    this.scheduled = true;
    // Waits for the calls of all connections that are received in this turn of the event loop: they belong in this
    // round. A single call loses nothing, as its turn ends at once.
    setImmediate(() => {
      this.scheduled = false;
      void this.round();
    });
  }

  private async round(): Promise<void> {
    const taken = [...this.waiting.values()].slice(0, this.mostKeys);
    if (taken.length === this.waiting.size) this.waiting = new Map();
    else for (const { key } of taken) this.waiting.delete(this.identify(key));
    this.rounds += 1;
    this.newestRoundAt = performance.now();
    this.schedule();
    try {
      const values = await this.load(taken.map(({ key }) => key));
      for (const [i, { waiters }] of taken.entries()) for (const waiter of waiters) waiter.resolve(values[i] as V);
    } catch (error) {
      for (const { waiters } of taken) for (const waiter of waiters) waiter.reject(error);
    } finally {
      this.rounds -= 1;
      this.schedule();
    }
  }
}

interface Waiter<V> {
  readonly resolve: (value: V) => void;
  readonly reject: (error: unknown) => void;
}
