/** Limits of a {@link FairQueue}. */
export interface FairQueueLimits {
  /** Under way at once, and of one owner. */
  readonly running: number;
  readonly runningOfOwner: number;
  /** Waiting, and of one owner. */
  readonly waiting: number;
  readonly waitingOfOwner: number;
  /** Any number of jobs of this owner wait, and take nobody's place. */
  readonly unlimitedOwner?: string;
}

/**
 * Jobs of several owners that take turns: whoever brings many waits for his own, and can't fill the queue for others.
 */
export class FairQueue<Job> {
  private readonly waiting = new Map<string, Job[]>();
  private readonly running = new Map<string, number>();
  private waitingCount = 0;
  private runningCount = 0;

  constructor(private readonly limits: FairQueueLimits) {}

  /** False when there is no room. */
  add(owner: string, job: Job): boolean {
    const own = this.waiting.get(owner) ?? [];
    const { waiting, waitingOfOwner, unlimitedOwner } = this.limits;
    if (owner !== unlimitedOwner) {
      const unlimited = unlimitedOwner === undefined ? 0 : (this.waiting.get(unlimitedOwner)?.length ?? 0);
      if (this.waitingCount - unlimited >= waiting || own.length >= waitingOfOwner) return false;
    }
    own.push(job);
    this.waiting.set(owner, own);
    this.waitingCount++;
    return true;
  }

  /** The job whose turn it is, which runs from now on; undefined when none may. */
  next(): { readonly owner: string; readonly job: Job } | undefined {
    if (this.runningCount >= this.limits.running) return undefined;
    for (const [owner, jobs] of this.waiting) {
      const underWay = this.running.get(owner) ?? 0;
      if (underWay >= this.limits.runningOfOwner) continue;
      const job = jobs.shift() as Job;
      // To the end of the line, or out of it.
      this.waiting.delete(owner);
      if (jobs.length > 0) this.waiting.set(owner, jobs);
      this.waitingCount--;
      this.running.set(owner, underWay + 1);
      this.runningCount++;
      return { owner, job };
    }
    return undefined;
  }

  /** A job of the owner has ended. */
  done(owner: string): void {
    const underWay = (this.running.get(owner) ?? 0) - 1;
    if (underWay > 0) this.running.set(owner, underWay);
    else this.running.delete(owner);
    this.runningCount--;
  }

  /** Takes a job out that still waits; false when it does not. */
  remove(owner: string, job: Job): boolean {
    const jobs = this.waiting.get(owner);
    const index = jobs?.indexOf(job) ?? -1;
    if (jobs === undefined || index < 0) return false;
    jobs.splice(index, 1);
    if (jobs.length === 0) this.waiting.delete(owner);
    this.waitingCount--;
    return true;
  }

  get isIdle(): boolean {
    return this.waitingCount === 0 && this.runningCount === 0;
  }
}
