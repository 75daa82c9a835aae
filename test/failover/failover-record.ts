/** Everything that writers and watchers of a run report. */
export class FailoverRecord {
  readonly violations: string[] = [];
  /** Acknowledged writes that are gone; only an asynchronous standby may lose them. */
  readonly losses: string[] = [];
  readonly answers = new Map<string, number>();
  acknowledged = 0;
  /** Writes by version. A version that is handed out twice means another state than its first owner knows. */
  private readonly versions = new Map<string, string>();
  private lastAt = performance.now();
  private longestMs = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly isAsynchronous: boolean) {}

  wrote(name: string, value: number, version: string): void {
    const now = performance.now();
    this.longestMs = Math.max(this.longestMs, now - this.lastAt);
    this.lastAt = now;
    this.acknowledged++;
    const write = `${name}=${value}`;
    const before = this.versions.get(version);
    if (before !== undefined) this.violation(`version ${version} was acknowledged for ${before} and for ${write}`);
    this.versions.set(version, write);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  lost(what: string, version: string): void {
    this.losses.push(`${what} (now at version ${version})`);
  }

  /**
   * Reports a state that the writer's own writes do not lead to. With asynchronous standbys it may be one of the former
   * primary, which continues for a moment beside the new one.
   */
  unexpected(what: string): void {
    if (this.isAsynchronous) this.losses.push(what);
    else this.violation(what);
  }

  violation(what: string): void {
    this.violations.push(what);
  }

  answered(status: number | undefined): void {
    const name = status === undefined ? 'connection broken' : String(status);
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }

  /** Begins to look for the longest time without an acknowledged write. */
  beginPause(): void {
    this.longestMs = 0;
  }

  /** The longest time without an acknowledged write since `beginPause`, in milliseconds. */
  get pauseMs(): number {
    return Math.max(this.longestMs, performance.now() - this.lastAt);
  }

  /** Resolves at the next acknowledged write. */
  nextWrite(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
