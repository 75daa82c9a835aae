/** Is called with the name of a namespace. */
export type OfNamespace = (namespace: string) => void;

/**
 * The memory of compiled roles and bindings, by namespace. A namespace may have half of what the others leave free, so
 * that some is always left for another one. The policy of the cluster counts, and always has room: only administrators
 * write it.
 */
export class PolicyMemory {
  private readonly sizes = new Map<string, number>();
  private readonly byNamespace = new Map<string, number>();
  /** By namespace and key, with the number of the attempt that failed last. */
  private readonly leftOut = new Map<string, Map<string, number>>();
  private attempts = 0;
  private total = 0;

  /**
   * @param limitBytes of all roles and bindings
   * @param onLeftOut is called for each role or binding that finds no room
   * @param onRoom is called when a namespace of which something was left out has more room than before
   */
  constructor(
    private readonly limitBytes = Number.POSITIVE_INFINITY,
    private readonly onLeftOut: OfNamespace = () => undefined,
    private readonly onRoom: OfNamespace = () => undefined,
  ) {}

  /** Bytes of all roles and bindings that are in memory, as estimated. */
  get bytes(): number {
    return this.total;
  }

  /** Number of roles and bindings that found no room. */
  get leftOutCount(): number {
    let count = 0;
    for (const keys of this.leftOut.values()) count += keys.size;
    return count;
  }

  /** Whether some of the roles or bindings of the namespace found no room. */
  isIncomplete(namespace: string): boolean {
    return this.leftOut.has(namespace);
  }

  /** The keys of the roles and bindings of the namespace that found no room, each with a mark of its last change. */
  leftOutOf(namespace: string): ReadonlyMap<string, number> {
    return new Map(this.leftOut.get(namespace));
  }

  /** Whether a role or binding has found no room and has not changed since it had this mark. */
  isStillLeftOut(namespace: string, key: string, mark: number): boolean {
    return this.leftOut.get(namespace)?.get(key) === mark;
  }

  /** Counts a role or binding in place of the one with the same key; false if there is no room for it. */
  take(namespace: string, key: string, bytes: number): boolean {
    const before = this.sizes.get(key) ?? 0;
    const own = (this.byNamespace.get(namespace) ?? 0) - before;
    const others = this.total - own - before;
    if (namespace !== '' && own + bytes > (this.limitBytes - others) / 2) {
      const keys = this.leftOut.get(namespace) ?? new Map<string, number>();
      this.leftOut.set(namespace, keys.set(key, ++this.attempts));
      this.set(namespace, key, 0);
      this.onLeftOut(namespace);
      return false;
    }
    this.forgetLeftOut(namespace, key);
    this.set(namespace, key, bytes);
    return true;
  }

  /** The role or binding is gone. */
  give(namespace: string, key: string): void {
    this.forgetLeftOut(namespace, key);
    this.set(namespace, key, 0);
  }

  private set(namespace: string, key: string, bytes: number): void {
    const change = bytes - (this.sizes.get(key) ?? 0);
    this.total += change;
    const left = (this.byNamespace.get(namespace) ?? 0) + change;
    if (bytes > 0) this.sizes.set(key, bytes);
    else this.sizes.delete(key);
    if (left > 0) this.byNamespace.set(namespace, left);
    else this.byNamespace.delete(namespace);
    if (change < 0 && this.leftOut.has(namespace)) this.onRoom(namespace);
  }

  private forgetLeftOut(namespace: string, key: string): void {
    const keys = this.leftOut.get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.leftOut.delete(namespace);
  }
}
