/** Counts the calls that are under way, for one party and for all, up to limits. */
export class UnderWay {
  private readonly counts = new Map<string, number>();
  private all = 0;

  constructor(private readonly limits: { readonly ofOne: number; readonly ofAll: number }) {}

  /**
   * Counts one more call. Returns the function that ends it, of which further calls do nothing; undefined when there
   * are too many calls.
   */
  begin(party: string): (() => void) | undefined {
    const count = this.counts.get(party) ?? 0;
    if (count >= this.limits.ofOne || this.all >= this.limits.ofAll) return undefined;
    this.counts.set(party, count + 1);
    this.all++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.all--;
      const left = (this.counts.get(party) ?? 1) - 1;
      if (left === 0) this.counts.delete(party);
      else this.counts.set(party, left);
    };
  }
}
