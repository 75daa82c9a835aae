import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemTimers, type Timers } from '../../../base/machinery/timers.js';

/** A check waits so long for the count of a folder, which other pods' checks wait for, too. */
const patienceMs = 5_000;
/** A count that takes longer, as on a file system that hangs, is given up. */
const longestMs = 3_600_000;

/** Folders that nobody has asked about for so long belong to pods that are gone. */
const forgottenMs = 3_600_000;

interface FolderCount {
  askedAt: number;
  /** The last sum; undefined before the first one. */
  bytes?: number;
  /** Resolves when the count that goes on has ended. */
  running?: Promise<void>;
}

/**
 * The sizes of folders of pods. A pod can fill a folder with so many small files that counting them takes minutes; such
 * a count goes on beside the checks of other pods, and later checks of the folder use its result.
 */
export class DiskUse {
  private readonly counts = new Map<string, FolderCount>();

  constructor(
    private readonly count: (folder: string) => Promise<number> = countBytes,
    private readonly timers: Timers = systemTimers,
  ) {}

  /**
   * The size of the files below a folder, in bytes: as it is now, or, while a long count goes on, as it was at the last
   * one; undefined if there was none.
   */
  async of(folder: string): Promise<number | undefined> {
    const now = this.timers.elapsed();
    for (const [other, { askedAt }] of this.counts) if (now - askedAt > forgottenMs) this.counts.delete(other);
    const counted = this.counts.get(folder) ?? { askedAt: now };
    this.counts.set(folder, counted);
    counted.askedAt = now;
    counted.running ??= this.count(folder).then((bytes) => {
      counted.bytes = bytes;
      delete counted.running;
    });
    await this.waitFor(counted.running);
    return counted.bytes;
  }

  private async waitFor(ended: Promise<void>): Promise<void> {
    const stop = new AbortController();
    await Promise.race([ended, this.timers.wait(patienceMs, stop.signal)]);
    stop.abort();
  }
}

/**
 * Pods change their files at the same time, so `du` counts them: it follows no links, even if a file is exchanged for
 * one, and has no depth limit.
 */
async function countBytes(folder: string): Promise<number> {
  // `du` fails for files that disappear, after it has printed the sum.
  const { stdout = '' } = await promisify(execFile)('du', ['-sx', '-B1', folder], { timeout: longestMs }).catch(
    (error: { stdout?: string }) => error,
  );
  return Number(/^\d+/.exec(stdout)?.[0] ?? 0);
}
