import type { Timers } from '../../../base/machinery/timers.js';
import type { Cgroups } from '../containers/cgroups.js';
import type { PodFolders } from '../pod-folders.js';

/** How long a container that the runtime was starting may bring back what was removed of its pod. */
const rememberedMs = 300_000;
const lookEveryMs = 10_000;

/**
 * Pods that were removed lately. A runtime that is starting a container while its pod is removed, or that is killed then,
 * may create the cgroup and the folder of the logs again afterwards. Pods that an earlier process of the agent removed
 * are found by its notes. Cgroups and logs of all other pods are not touched: they may belong to another agent on this
 * machine.
 */
export class RemovedPods {
  /** When each pod was removed, or found in the notes of an earlier process. */
  private readonly removedAt = new Map<string, number>();
  private dueAt = Number.NEGATIVE_INFINITY;
  private areNotesRead = false;

  /** @param podsCgroup the cgroup of all pods; undefined: pods have no cgroups */
  constructor(
    private readonly cgroups: Pick<Cgroups, 'podUids'>,
    private readonly podsCgroup: string | undefined,
    private readonly folders: Pick<PodFolders, 'removedUids' | 'forgetRemoved' | 'uidsOfLogs'>,
    private readonly timers: Pick<Timers, 'elapsed'>,
  ) {}

  /** Remembers a pod whose remains were all removed. */
  add(uid: string): void {
    this.removedAt.set(uid, this.timers.elapsed());
  }

  /** The uids of removed pods of which something exists again. Checks only from time to time. */
  async comeBack(): Promise<readonly string[]> {
    const now = this.timers.elapsed();
    if (now < this.dueAt) return [];
    this.dueAt = now + lookEveryMs;
    await this.readNotes(now);
    if (this.removedAt.size === 0) return [];
    const found = new Set(await this.folders.uidsOfLogs());
    if (this.podsCgroup !== undefined) {
      for (const uid of await this.cgroups.podUids(this.podsCgroup)) found.add(uid);
    }
    for (const [uid, at] of this.removedAt) {
      // Existing remains are removed first, however long that takes.
      if (now - at <= rememberedMs || found.has(uid)) continue;
      await this.folders.forgetRemoved(uid);
      this.removedAt.delete(uid);
    }
    return [...this.removedAt.keys()].filter((uid) => found.has(uid));
  }

  private async readNotes(now: number): Promise<void> {
    if (this.areNotesRead) return;
    this.areNotesRead = true;
    for (const uid of await this.folders.removedUids()) {
      if (!this.removedAt.has(uid)) this.removedAt.set(uid, now);
    }
  }
}
