import type { Timers } from '../../../base/machinery/timers.js';
import type { Cgroups } from '../containers/cgroups.js';

/** How long the cgroup of a removed pod may appear again, made by a container that the runtime was beginning. */
const rememberedMs = 300_000;
const lookEveryMs = 10_000;

/**
 * Pods that were removed lately. A runtime that is killed while it begins a container may make the cgroup of the pod
 * again after that. Cgroups of other pods are not looked at: they may belong to another agent of the machine.
 */
export class RemovedPods {
  private readonly removedAt = new Map<string, number>();
  private dueAt = 0;

  /** @param podsCgroup the cgroup of all pods; undefined: pods have none */
  constructor(
    private readonly cgroups: Pick<Cgroups, 'podUids'>,
    private readonly podsCgroup: string | undefined,
    private readonly timers: Pick<Timers, 'elapsed'>,
  ) {}

  /** Remembers a pod of which nothing is left. */
  add(uid: string): void {
    this.removedAt.delete(uid);
    this.removedAt.set(uid, this.timers.elapsed());
  }

  /** The uids of those that have a cgroup again. Looks for them now and then only. */
  async comeBack(): Promise<readonly string[]> {
    const now = this.timers.elapsed();
    if (this.podsCgroup === undefined || this.removedAt.size === 0 || now < this.dueAt) return [];
    this.dueAt = now + lookEveryMs;
    for (const [uid, at] of this.removedAt) if (now - at > rememberedMs) this.removedAt.delete(uid);
    const found = await this.cgroups.podUids(this.podsCgroup);
    return [...this.removedAt.keys()].filter((uid) => found.has(uid));
  }
}
