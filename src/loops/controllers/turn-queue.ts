/** A key that waits. */
export interface WaitingKey {
  readonly key: string;
  readonly party: string;
  /** When it came, as it was said. */
  readonly since: number;
}

/** The namespace of a key `<namespace>/<name>`; '' for keys without one. */
export function namespaceOfKey(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}

/** Keys in the order in which they came, except that their parties take turns. */
export class TurnQueue {
  private readonly keys = new Map<string, WaitingKey>();
  /** The keys of each party that has some; the party whose turn is next comes first. */
  private readonly parties = new Map<string, Set<string>>();

  constructor(private readonly partyOf: (key: string) => string) {}

  get size(): number {
    return this.keys.size;
  }

  has(key: string): boolean {
    return this.keys.has(key);
  }

  /** Whether the key is new. */
  add(key: string, since: number): boolean {
    if (this.keys.has(key)) return false;
    const party = this.partyOf(key);
    this.keys.set(key, { key, party, since });
    const keys = this.parties.get(party);
    if (keys === undefined) this.parties.set(party, new Set([key]));
    else keys.add(key);
    return true;
  }

  /** Takes out the next key whose party may have its turn; undefined when there is none. */
  take(mayHave: (party: string) => boolean): WaitingKey | undefined {
    for (const [party, keys] of this.parties) {
      if (!mayHave(party)) continue;
      const [key] = keys;
      const found = this.keys.get(key as string) as WaitingKey;
      this.keys.delete(found.key);
      keys.delete(found.key);
      // The next turn comes after those of all others.
      this.parties.delete(party);
      if (keys.size > 0) this.parties.set(party, keys);
      return found;
    }
    return undefined;
  }
}
