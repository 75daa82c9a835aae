import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { Logger } from '../../../base/observability/logger.js';

export interface RotatedFilesOptions {
  /** In days; 0 for no limit. */
  readonly maxAgeDays: number;
  /** 0: no limit. */
  readonly maxBackups: number;
  readonly compress: boolean;
}

const dayMs = 86_400_000;
/** A rotated file is left alone for this long, since other processes write to it until they notice the rotation. */
const settleMs = 5_000;
/** Partly compressed files older than this were left by a process that died. */
const staleMs = 3_600_000;
const stamp = /^-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3})(?:-\d+)?$/;

/** `audit-2026-01-31T12-00-00.000.log`, in UTC; with a number when that name is taken. */
export function backupName(path: string, now: number): string {
  const extension = extname(path);
  const time = new Date(now).toISOString().replaceAll(':', '-').slice(0, -1);
  const stem = `${path.slice(0, path.length - extension.length)}-${time}`;
  for (let number = 1; ; number++) {
    const name = `${stem}${number === 1 ? '' : `-${number}`}${extension}`;
    if (!existsSync(name) && !existsSync(`${name}.gz`)) return name;
  }
}

/** The rotated files beside a log: removes old ones and compresses the rest, one round at a time. */
export class RotatedFiles {
  private readonly stopping = new AbortController();
  private round: Promise<void> | undefined;
  private isWanted = false;

  constructor(
    private readonly path: string,
    private readonly options: RotatedFilesOptions,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly now: () => number,
    private readonly settleForMs = settleMs,
  ) {}

  /** Begins a round; if one is running, another follows. */
  tidy(): void {
    this.isWanted = true;
    this.round ??= this.rounds().finally(() => {
      this.round = undefined;
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.round;
  }

  private async rounds(): Promise<void> {
    while (this.isWanted && !this.stopping.signal.aborted) {
      this.isWanted = false;
      try {
        const kept = await this.removeOld();
        if (this.options.compress) await this.compressAll(kept);
      } catch (error) {
        if (!this.stopping.signal.aborted)
          this.logger.warn('could not remove or compress rotated audit logs', { error });
      }
    }
  }

  /** The rotated files, newest first. */
  private async list(): Promise<{ readonly name: string; readonly at: number }[]> {
    const folder = dirname(this.path);
    const extension = extname(this.path);
    const prefix = basename(this.path, extension);
    const found = (await readdir(folder)).flatMap((name) => {
      const plain = name.endsWith('.gz') ? name.slice(0, -3) : name;
      if (!plain.startsWith(prefix) || !plain.endsWith(extension)) return [];
      const [, time] = stamp.exec(plain.slice(prefix.length, plain.length - extension.length)) ?? [];
      if (time === undefined) return [];
      const at = Date.parse(`${time.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:')}Z`);
      return Number.isNaN(at) ? [] : [{ name: join(folder, name), at }];
    });
    return found.sort((a, b) => b.at - a.at || (a.name < b.name ? 1 : -1));
  }

  private async removeOld(): Promise<readonly string[]> {
    const { maxAgeDays, maxBackups } = this.options;
    const kept: string[] = [];
    for (const { name, at } of await this.list()) {
      const isOld = maxAgeDays > 0 && this.now() - at > maxAgeDays * dayMs;
      if (isOld || (maxBackups > 0 && kept.length >= maxBackups)) await rm(name, { force: true });
      else kept.push(name);
    }
    return kept;
  }

  private async compressAll(names: readonly string[]): Promise<void> {
    const { signal } = this.stopping;
    const plain = names.filter((name) => !name.endsWith('.gz'));
    if (plain.length === 0) return;
    await delay(this.settleForMs, undefined, { signal, ref: false });
    for (const name of plain) await this.compress(name, signal);
  }

  /**
   * Never leaves an incomplete file under the final name, and does not disturb another process that works on the same
   * file.
   */
  private async compress(name: string, signal: AbortSignal): Promise<void> {
    const half = `${name}.gz.part`;
    const age = await stat(half).then(
      ({ mtimeMs }) => this.now() - mtimeMs,
      () => undefined,
    );
    if (age !== undefined && age > staleMs) await rm(half, { force: true });
    else if (age !== undefined) return;
    try {
      const source = createReadStream(name);
      await pipeline(source, createGzip(), createWriteStream(half, { flags: 'wx', mode: 0o600 }), { signal });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process is compressing the file, or has removed it.
      if (code === 'EEXIST') return;
      await rm(half, { force: true });
      if (code === 'ENOENT') return;
      throw error;
    }
    await rename(half, `${name}.gz`);
    await rm(name, { force: true });
  }
}
