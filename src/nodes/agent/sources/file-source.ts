import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { watchPath } from '../watch-path.js';
import { ManifestError } from './manifest-error.js';
import { readManifestFile } from './read-manifest-file.js';
import { readLargeManifest, type StaticPodContext } from './static-pod.js';

/** Changes within this time are read together. */
const settleMs = 100;

export interface FileSourceDependencies {
  /** A file, or a folder whose files are read except those that begin with a dot. */
  readonly path: string;
  readonly everyMs: number;
  readonly context: Omit<StaticPodContext, 'origin'>;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Receives all pods of the path after each read. */
  readonly onPods: (pods: readonly Pod[]) => void;
}

/** Pods that files describe. The files are read at an interval, and at once when the kernel reports a change. */
export class FileSource {
  private readonly reported = new Map<string, string>();
  private readonly seen = new Map<string, string>();
  private readonly good = new Map<string, readonly Pod[]>();
  private readonly prints = new Map<string, string>();

  constructor(private readonly dependencies: FileSourceDependencies) {}

  async run(signal: AbortSignal): Promise<void> {
    const { timers, everyMs, path } = this.dependencies;
    while (!signal.aborted) {
      const woken = new AbortController();
      const watcher = watchPath(path, () => woken.abort());
      try {
        await this.look();
      } finally {
        await timers.wait(everyMs, AbortSignal.any([signal, woken.signal]));
        watcher?.close();
      }
      if (woken.signal.aborted) await timers.wait(settleMs, signal);
    }
  }

  /** Reads all files once. */
  async look(): Promise<void> {
    const { path, onPods } = this.dependencies;
    const files = await this.files(path);
    // A folder that can't be read leaves its pods as they were.
    if (files === undefined) return;
    const pods: Pod[] = [];
    for (const file of files) pods.push(...(await this.read(file)));
    for (const known of [this.good, this.prints])
      for (const file of known.keys()) if (!files.includes(file)) known.delete(file);
    onPods(pods);
  }

  private async files(path: string): Promise<string[] | undefined> {
    try {
      if (!(await fs.stat(path)).isDirectory()) return [path];
      const names = await fs.readdir(path);
      return names
        .filter((name) => !name.startsWith('.'))
        .sort()
        .map((name) => join(path, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      this.report(path, `can't be read: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** A file that can't be read any more keeps its pods: it may be in the middle of a write. */
  private async read(file: string): Promise<readonly Pod[]> {
    const { context } = this.dependencies;
    try {
      const text = await readManifestFile(file);
      // Reading it again would give the same.
      const print = createHash('sha256').update(text).digest('hex');
      if (this.prints.get(file) === print) return this.good.get(file) ?? [];
      this.prints.set(file, print);
      const seen = this.seen.get(file) ?? context.seen;
      const pods = await readLargeManifest(text, { ...context, seen, origin: file });
      this.reported.delete(file);
      this.seen.set(file, seen);
      this.good.set(file, pods);
      return pods;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      if (!(error instanceof ManifestError) || error.mayPass) this.prints.delete(file);
      this.report(file, (error as Error).message);
      return this.good.get(file) ?? [];
    }
  }

  private report(file: string, problem: string): void {
    if (this.reported.get(file) === problem) return;
    this.reported.set(file, problem);
    this.dependencies.logger.warn('a manifest of a static pod could not be used', { file, problem });
  }
}
