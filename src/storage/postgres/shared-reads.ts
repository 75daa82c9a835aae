/**
 * Lets calls that come while earlier ones are under way go together in the next round. A round always starts after
 * every call in it was made, so it can't answer with something older than the call.
 */
export class SharedReads<K, V> {
  readonly #load: (keys: readonly K[]) => Promise<readonly V[]>;
  readonly #identify: (key: K) => string;
  readonly #mostRounds: number;
  readonly #mostKeys: number;
  #waiting = new Map<string, { readonly key: K; readonly waiters: Waiter<V>[] }>();
  #rounds = 0;
  #scheduled = false;

  /** `load` answers keys in their order; `identify` tells which keys are the same. */
  constructor(
    load: (keys: readonly K[]) => Promise<readonly V[]>,
    identify: (key: K) => string,
    mostRounds: number,
    mostKeys = 500,
  ) {
    this.#load = load;
    this.#identify = identify;
    this.#mostRounds = mostRounds;
    this.#mostKeys = mostKeys;
  }

  get(key: K): Promise<V> {
    return new Promise((resolve, reject) => {
      const id = this.#identify(key);
      const known = this.#waiting.get(id);
      if (known === undefined) this.#waiting.set(id, { key, waiters: [{ resolve, reject }] });
      else known.waiters.push({ resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#rounds >= this.#mostRounds || this.#waiting.size === 0) return;
    this.#scheduled = true;
    const begin = (): void => {
      this.#scheduled = false;
      void this.#round();
    };
    // When nothing is under way the first call should not wait; otherwise let the turn of the event loop fill the round.
    if (this.#rounds === 0) process.nextTick(begin);
    else setImmediate(begin);
  }

  async #round(): Promise<void> {
    const taken = [...this.#waiting.values()].slice(0, this.#mostKeys);
    if (taken.length === this.#waiting.size) this.#waiting = new Map();
    else for (const { key } of taken) this.#waiting.delete(this.#identify(key));
    this.#rounds += 1;
    this.#schedule();
    try {
      const values = await this.#load(taken.map(({ key }) => key));
      for (const [i, { waiters }] of taken.entries()) for (const waiter of waiters) waiter.resolve(values[i] as V);
    } catch (error) {
      for (const { waiters } of taken) for (const waiter of waiters) waiter.reject(error);
    } finally {
      this.#rounds -= 1;
      this.#schedule();
    }
  }
}

interface Waiter<V> {
  readonly resolve: (value: V) => void;
  readonly reject: (error: unknown) => void;
}
