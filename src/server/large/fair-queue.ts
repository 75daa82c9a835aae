import { PartyQueue } from '../../base/machinery/party-queue.js';

/** Limits of a {@link FairQueue}. */
export interface FairQueueLimits {
  /** Maximum number of running jobs, in total and per owner. */
  readonly running: number;
  readonly runningOfOwner: number;
  /** Maximum number of jobs of an owner that run or wait for servers outside. */
  readonly remoteOfOwner: number;
  /** Maximum number of waiting jobs, in total and per owner. */
  readonly waiting: number;
  readonly waitingOfOwner: number;
  /** This owner may have any number of waiting jobs; they don't count against the total. */
  readonly unlimitedOwner?: string;
}

/**
 * A queue in which the owners of jobs take turns: an owner with many jobs delays only itself, and can't fill the queue
 * for others. When the queue is full, a job of an owner with few jobs replaces the newest job of the owner with most.
 */
export class FairQueue<Job> {
  private readonly waiting = new PartyQueue<{ readonly job: Job }>();
  private readonly running = new Map<string, number>();
  private runningCount = 0;
  /** Numbers of jobs that wait for servers outside, by owner. They do not count as running. */
  private readonly remote = new Map<string, number>();

  constructor(private readonly limits: FairQueueLimits) {}

  /** Adds a job. Returns the job that doesn't fit, if any: the added one, or one of another owner. */
  add(owner: string, job: Job): Job | undefined {
    const own = this.waiting.sizeOf(owner);
    const { waiting, waitingOfOwner, unlimitedOwner } = this.limits;
    let displaced: Job | undefined;
    if (owner !== unlimitedOwner) {
      if (own >= waitingOfOwner) return job;
      const unlimited = unlimitedOwner === undefined ? 0 : this.waiting.sizeOf(unlimitedOwner);
      if (this.waiting.size - unlimited >= waiting) {
        displaced = this.displace(own + 1);
        if (displaced === undefined) return job;
      }
    }
    this.waiting.add(owner, { job });
    return displaced;
  }

  /** Starts the job whose turn it is; undefined when none may start. */
  next(): { readonly owner: string; readonly job: Job } | undefined {
    if (this.runningCount >= this.limits.running) return undefined;
    const { runningOfOwner, remoteOfOwner } = this.limits;
    const next = this.waiting.take((owner) => {
      const running = this.running.get(owner) ?? 0;
      return running < runningOfOwner && running + (this.remote.get(owner) ?? 0) < remoteOfOwner;
    });
    if (next === undefined) return undefined;
    const { party: owner, item } = next;
    add(this.running, owner, 1);
    this.runningCount++;
    return { owner, job: item.job };
  }

  /**
   * Records that a running job of the owner begins to wait for a server outside, or no longer does. Others may start
   * meanwhile; afterwards more than usual may run for a while.
   */
  setRemote(owner: string, isRemote: boolean): void {
    const change = isRemote ? 1 : -1;
    add(this.remote, owner, change);
    add(this.running, owner, -change);
    this.runningCount -= change;
  }

  /** Records that a running job of the owner, which does not wait for a server outside, is done. */
  done(owner: string): void {
    add(this.running, owner, -1);
    this.runningCount--;
  }

  /** Removes a waiting job; false when it is not waiting. */
  remove(owner: string, job: Job): boolean {
    for (const one of this.waiting.of(owner)) if (one.job === job) return this.waiting.remove(owner, one);
    return false;
  }

  /** Removes the newest job of the owner with the most jobs, if that owner has more than `moreThan`. */
  private displace(moreThan: number): Job | undefined {
    let longest: string | undefined;
    let most = moreThan;
    for (const owner of this.waiting.parties()) {
      const count = this.waiting.sizeOf(owner);
      if (owner === this.limits.unlimitedOwner || count <= most) continue;
      longest = owner;
      most = count;
    }
    const newest = longest === undefined ? undefined : [...this.waiting.of(longest)].at(-1);
    if (longest === undefined || newest === undefined) return undefined;
    this.waiting.remove(longest, newest);
    return newest.job;
  }

  get isIdle(): boolean {
    return this.waiting.size === 0 && this.runningCount === 0 && this.remote.size === 0;
  }
}

function add(counts: Map<string, number>, owner: string, change: number): void {
  const count = (counts.get(owner) ?? 0) + change;
  if (count === 0) counts.delete(owner);
  else counts.set(owner, count);
}
