/**
 * The second round of the mutating phase. When a webhook changes an object after other plugins have seen it, those run
 * once more: the chain runs its mutating plugins again, and hooks that request it (`IfNeeded`) are called again
 * (specification 5.10).
 */
export class Reinvocation {
  private isSecondRound = false;
  private isRequested = false;
  private readonly states = new Map<string, unknown>();

  /** Whether this is the second round. */
  get isReinvoke(): boolean {
    return this.isSecondRound;
  }

  /** Requests a second round. There is never a third. */
  request(): void {
    this.isRequested = true;
  }

  /** What a plugin remembers from the first round to the second; `make` makes it on the first call. */
  state<T>(plugin: string, make: () => T): T {
    if (!this.states.has(plugin)) this.states.set(plugin, make());
    return this.states.get(plugin) as T;
  }

  /** Begins the second round, if one was requested. */
  begin(): boolean {
    if (!this.isRequested || this.isSecondRound) return false;
    this.isSecondRound = true;
    return true;
  }
}
