import { performance } from 'node:perf_hooks';

/** Time constant of the decay of used processor time, in milliseconds. */
const memoryMs = 1000;
/** The share of the thread's time that one party may use while others have work too. */
const largestShare = 0.2;
/** The share of the thread's time above which it counts as busy. */
const busyShare = 0.7;
/** How long another party counts as having work after it began some, in milliseconds. */
const presentMs = 2000;
/** The longest pause between two pieces of work of a party, in milliseconds. */
const longestPauseMs = 500;

interface Use {
  /** Processor time, decayed until `at`. */
  ms: number;
  at: number;
}

/**
 * Spreads the time of the thread over the parties (namespaces) of all control loops. Turns of one queue are not enough:
 * the work on one key of a namespace with thousands of large objects may take as long as a hundred keys of another one,
 * and each step of a rollout waits for several such pieces of work. So while the thread is busy and several parties have
 * work, a party that has used more than a fifth of the last second waits before its next piece of work. Cluster-scoped
 * keys (the party without a name) never wait.
 */
export class PartyPace {
  private readonly uses = new Map<string, Use>();
  private sweptAt = Number.NEGATIVE_INFINITY;
  private lastUtilization: ReturnType<typeof performance.eventLoopUtilization> | undefined;
  private measuredAt = Number.NEGATIVE_INFINITY;
  private share = 0;

  /** @param utilization the share of its time that the thread worked since it was measured before */
  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly utilization: () => number = () => this.measuredUtilization(),
  ) {}

  /** Records the start of a piece of work; call the result when the thread turns to something else. */
  begin(party: string): () => void {
    const startedAt = this.now();
    const use = this.useOf(party, startedAt);
    return () => {
      const endedAt = this.now();
      this.decay(use, endedAt);
      use.ms += endedAt - startedAt;
    };
  }

  /** How long the party has to wait before its next piece of work, in milliseconds; 0: it may begin. */
  pauseMs(party: string): number {
    if (party === '') return 0;
    const now = this.now();
    const use = this.uses.get(party);
    if (use === undefined) return 0;
    this.decay(use, now);
    const most = largestShare * memoryMs;
    if (use.ms <= most || !this.hasOthers(party, now) || !this.isBusy(now)) return 0;
    return Math.min(longestPauseMs, Math.ceil(memoryMs * Math.log(use.ms / most)));
  }

  /** Whether the thread is busy and parties other than this one have work. */
  isContended(party: string): boolean {
    const now = this.now();
    return this.isBusy(now) && this.hasOthers(party, now);
  }

  private useOf(party: string, now: number): Use {
    const known = this.uses.get(party);
    if (known !== undefined) {
      this.decay(known, now);
      return known;
    }
    this.forgetPast(now);
    const use = { ms: 0, at: now };
    this.uses.set(party, use);
    return use;
  }

  private decay(use: Use, now: number): void {
    use.ms *= Math.exp((use.at - now) / memoryMs);
    use.at = now;
  }

  private hasOthers(party: string, now: number): boolean {
    for (const [other, { at }] of this.uses) if (other !== '' && other !== party && now - at < presentMs) return true;
    return false;
  }

  private forgetPast(now: number): void {
    // The first look at thousands of namespaces must not look at all of them for each.
    if (now - this.sweptAt < memoryMs) return;
    this.sweptAt = now;
    for (const [party, { at }] of this.uses) if (now - at > 10 * memoryMs) this.uses.delete(party);
  }

  /** Measured four times a second at most: a figure of a shorter time would be that of one piece of work. */
  private isBusy(now: number): boolean {
    if (now - this.measuredAt > memoryMs / 4) {
      this.measuredAt = now;
      this.share = this.utilization();
    }
    return this.share > busyShare;
  }

  private measuredUtilization(): number {
    const before = this.lastUtilization;
    const current = performance.eventLoopUtilization();
    this.lastUtilization = current;
    return performance.eventLoopUtilization(current, before).utilization;
  }
}

/** The pace of all loops of this process, which share its thread. */
export const loopPace = new PartyPace();
