/**
 * A cache by key that keeps each value only as long as it is used elsewhere. Equal keys must stand for equal values.
 */
export class SharedValues<V extends object> {
  private readonly known = new Map<string, WeakRef<V>>();
  private readonly gone = new FinalizationRegistry<string>((key) => {
    // Another value may have been stored under the key meanwhile.
    if (this.known.get(key)?.deref() === undefined) this.known.delete(key);
  });

  get size(): number {
    return this.known.size;
  }

  /** The value of the key if it is still in use, or a new one. */
  get(key: string, make: () => V): V {
    const known = this.known.get(key)?.deref();
    if (known !== undefined) return known;
    const value = make();
    this.known.set(key, new WeakRef(value));
    this.gone.register(value, key);
    return value;
  }
}
