/** Limits of a {@link FairQueue}. */
export interface FairQueueLimits {
  /** Jobs that run at once, in total and per owner. */
  readonly running: number;
  readonly runningOfOwner: number;
  /** Jobs that wait, in total and per owner. */
  readonly waiting: number;
  readonly waitingOfOwner: number;
  /** This owner may have any number of waiting jobs; they don't count against the total. */
  readonly unlimitedOwner?: string;
}

/**
 * A queue in which the owners of jobs take turns: an owner with many jobs delays only their own, and can't fill the
 * queue for others. When it is full, a job of an owner with few takes the place of the newest job of the owner with most.
 */
export class FairQueue<Job> {
  private readonly waiting = new Map<string, Job[]>();
  private readonly running = new Map<string, number>();
  private waitingCount = 0;
  private runningCount = 0;

  constructor(private readonly limits: FairQueueLimits) {}

  /** Adds a job. Returns the one that there is no room for, if any: this one, or one of another owner. */
  add(owner: string, job: Job): Job | undefined {
    const own = this.waiting.get(owner) ?? [];
    const { waiting, waitingOfOwner, unlimitedOwner } = this.limits;
    let displaced: Job | undefined;
    if (owner !== unlimitedOwner) {
      if (own.length >= waitingOfOwner) return job;
      const unlimited = unlimitedOwner === undefined ? 0 : (this.waiting.get(unlimitedOwner)?.length ?? 0);
      if (this.waitingCount - unlimited >= waiting) {
        displaced = this.displace(own.length + 1);
        if (displaced === undefined) return job;
      }
    }
    own.push(job);
    this.waiting.set(owner, own);
    this.waitingCount++;
    return displaced;
  }

  /** Starts the job whose turn it is; undefined when none may start. */
  next(): { readonly owner: string; readonly job: Job } | undefined {
    if (this.runningCount >= this.limits.running) return undefined;
    for (const [owner, jobs] of this.waiting) {
      const underWay = this.running.get(owner) ?? 0;
      if (underWay >= this.limits.runningOfOwner) continue;
      const job = jobs.shift() as Job;
      // Moves the owner to the end of the line, or out of it.
      this.waiting.delete(owner);
      if (jobs.length > 0) this.waiting.set(owner, jobs);
      this.waitingCount--;
      this.running.set(owner, underWay + 1);
      this.runningCount++;
      return { owner, job };
    }
    return undefined;
  }

  /** Records that a job of the owner has ended. */
  done(owner: string): void {
    const underWay = (this.running.get(owner) ?? 0) - 1;
    if (underWay > 0) this.running.set(owner, underWay);
    else this.running.delete(owner);
    this.runningCount--;
  }

  /** Removes a waiting job; false when it is not waiting. */
  remove(owner: string, job: Job): boolean {
    const jobs = this.waiting.get(owner);
    const index = jobs?.indexOf(job) ?? -1;
    if (jobs === undefined || index < 0) return false;
    jobs.splice(index, 1);
    if (jobs.length === 0) this.waiting.delete(owner);
    this.waitingCount--;
    return true;
  }

  /** Takes the newest job from the owner with most, if that is more than so many. */
  private displace(moreThan: number): Job | undefined {
    let longest: Job[] | undefined;
    for (const [owner, jobs] of this.waiting) {
      if (owner !== this.limits.unlimitedOwner && jobs.length > (longest?.length ?? moreThan)) longest = jobs;
    }
    const job = longest?.pop();
    if (job !== undefined) this.waitingCount--;
    return job;
  }

  get isIdle(): boolean {
    return this.waitingCount === 0 && this.runningCount === 0;
  }
}
