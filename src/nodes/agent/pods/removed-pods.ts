import type { Timers } from '../../../base/machinery/timers.js';
import type { Cgroups } from '../containers/cgroups.js';

/** How long a container that the runtime was starting may bring back the cgroup of a removed pod. */
const rememberedMs = 300_000;
const lookEveryMs = 10_000;

/**
 * Pods that were removed lately. A runtime that is killed while it starts a container may create the cgroup of the pod
 * again afterwards. Other cgroups are not touched: they may belong to another agent on this machine.
 */
export class RemovedPods {
  private readonly removedAt = new Map<string, number>();
  private dueAt = 0;

  /** @param podsCgroup the cgroup of all pods; undefined: pods have no cgroups */
  constructor(
    private readonly cgroups: Pick<Cgroups, 'podUids'>,
    private readonly podsCgroup: string | undefined,
    private readonly timers: Pick<Timers, 'elapsed'>,
  ) {}

  /** Remembers a pod whose remains were all removed. */
  add(uid: string): void {
    this.removedAt.delete(uid);
    this.removedAt.set(uid, this.timers.elapsed());
  }

  /** The uids of removed pods that have a cgroup again. Checks only from time to time. */
  async comeBack(): Promise<readonly string[]> {
    const now = this.timers.elapsed();
    if (this.podsCgroup === undefined || this.removedAt.size === 0 || now < this.dueAt) return [];
    this.dueAt = now + lookEveryMs;
    for (const [uid, at] of this.removedAt) if (now - at > rememberedMs) this.removedAt.delete(uid);
    const found = await this.cgroups.podUids(this.podsCgroup);
    return [...this.removedAt.keys()].filter((uid) => found.has(uid));
  }
}
