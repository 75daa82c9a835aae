/** Values by key, equal values under equal keys, each kept only as long as somebody else uses it. */
export class SharedValues<V extends object> {
  private readonly known = new Map<string, WeakRef<V>>();
  private readonly gone = new FinalizationRegistry<string>((key) => {
    // Another value may have taken the place meanwhile.
    if (this.known.get(key)?.deref() === undefined) this.known.delete(key);
  });

  get size(): number {
    return this.known.size;
  }

  /** The value of the key that is in use, or a new one. */
  get(key: string, make: () => V): V {
    const known = this.known.get(key)?.deref();
    if (known !== undefined) return known;
    const value = make();
    this.known.set(key, new WeakRef(value));
    this.gone.register(value, key);
    return value;
  }
}
