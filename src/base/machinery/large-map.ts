/** A map with a million entries takes hundreds of milliseconds when it grows; one with a few thousand takes none. */
const shardCount = 256;

/**
 * A map with string keys for very many entries, which grows in small steps. Entries have no order. The map may change
 * during an iteration: entries that exist throughout are visited exactly once; others may be.
 */
export class LargeMap<V> {
  private readonly shards: Map<string, V>[] = Array.from({ length: shardCount }, () => new Map());
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: string): V | undefined {
    return this.shardOf(key).get(key);
  }

  has(key: string): boolean {
    return this.shardOf(key).has(key);
  }

  set(key: string, value: V): void {
    const shard = this.shardOf(key);
    const before = shard.size;
    shard.set(key, value);
    this.count += shard.size - before;
  }

  /** Returns whether the entry existed. */
  delete(key: string): boolean {
    const isGone = this.shardOf(key).delete(key);
    if (isGone) this.count -= 1;
    return isGone;
  }

  *keys(): Generator<string, undefined> {
    for (const shard of this.shards) yield* shard.keys();
  }

  *values(): Generator<V, undefined> {
    for (const shard of this.shards) yield* shard.values();
  }

  private shardOf(key: string): Map<string, V> {
    return this.shards[shardIndex(key)] as Map<string, V>;
  }
}

/** Names and identifiers differ mostly at their end. */
function shardIndex(key: string): number {
  const { length } = key;
  let hash = length;
  for (let i = Math.max(0, length - 6); i < length; i++) hash = Math.imul(hash, 31) + key.charCodeAt(i);
  return (hash ^ (hash >>> 8)) & (shardCount - 1);
}
