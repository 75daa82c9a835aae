import { closeSync, constants, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import type { Logger } from '../../../base/observability/logger.js';
import { backupName, RotatedFiles, type RotatedFilesOptions } from './rotated-files.js';

export interface RotatingFileOptions extends RotatedFilesOptions {
  /** Size in bytes at which the file is renamed and a new one begins. */
  readonly maxBytes: number;
}

/** How often to check whether another process has rotated the file. */
const checkMs = 250;
/** A lock is considered stale after this time, since its process may have died while rotating. */
const staleLockMs = 10_000;
const mode = 0o600;

/**
 * A file that several processes of a machine append to. A write is one system call, which appends all lines, even if
 * other processes write at the same time. A process that finds the file full rotates it, under a lock; the others
 * notice soon, and append to the rotated file until then.
 */
export class RotatingFile {
  private descriptor: number | undefined;
  private inode = 0;
  private checkedAt = 0;
  private size = 0;
  /** A write failed halfway, so the next write begins with a line break. */
  private isTorn = false;
  private readonly rotated: RotatedFiles;

  constructor(
    private readonly path: string,
    private readonly options: RotatingFileOptions,
    logger: Pick<Logger, 'warn'>,
    private readonly now: () => number = Date.now,
  ) {
    this.rotated = new RotatedFiles(path, options, logger, now);
  }

  /** Opens the file; creates it, and its folder, if it does not exist. Throws when that is impossible. */
  open(): void {
    makeFolder(dirname(this.path), 0o700);
    this.reopen();
    this.rotated.tidy();
  }

  /** Appends whole lines. Throws when they could not be written. */
  append(lines: string): void {
    const bytes = Buffer.from(this.isTorn ? `\n${lines}` : lines);
    this.keepUp(bytes.length);
    const descriptor = this.descriptor as number;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
      this.isTorn = false;
    } catch (error) {
      if (written > 0) this.isTorn = true;
      throw error;
    } finally {
      this.size += written;
    }
  }

  async close(): Promise<void> {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
    await this.rotated.stop();
  }

  /** Makes sure that the open file is the current one, and has space for `bytes`. */
  private keepUp(bytes: number): void {
    const now = this.now();
    if (this.descriptor === undefined) this.reopen();
    else if (now - this.checkedAt >= checkMs) {
      this.checkedAt = now;
      if (!this.isPresent()) this.reopenOrStay();
      else this.size = fstatSync(this.descriptor).size;
    }
    if (this.size > 0 && this.size + bytes > this.options.maxBytes) this.rotate();
  }

  private rotate(): void {
    const lock = `${this.path}.lock`;
    if (!takeLock(lock, this.now())) {
      // Another process is rotating the file.
      if (!this.isPresent()) this.reopen();
      return;
    }
    try {
      if (this.isPresent()) {
        renameSync(this.path, backupName(this.path, this.now()));
        this.rotated.tidy();
      }
      this.reopen();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  private isPresent(): boolean {
    try {
      return statSync(this.path).ino === this.inode;
    } catch {
      return false;
    }
  }

  /**
   * Reopens the file. If that fails, a renamed file remains in use; a removed one does not, since its lines would be
   * lost.
   */
  private reopenOrStay(): void {
    try {
      this.reopen();
    } catch (error) {
      const descriptor = this.descriptor as number;
      if (fstatSync(descriptor).nlink > 0) return;
      this.descriptor = undefined;
      closeSync(descriptor);
      throw error;
    }
  }

  private reopen(): void {
    const before = this.descriptor;
    const { O_APPEND, O_CREAT, O_WRONLY } = constants;
    const descriptor = openSync(this.path, O_APPEND | O_CREAT | O_WRONLY, mode);
    const { ino, size } = fstatSync(descriptor);
    this.descriptor = descriptor;
    this.inode = ino;
    this.size = size;
    this.checkedAt = this.now();
    if (before !== undefined) closeSync(before);
  }
}

function takeLock(lock: string, now: number): boolean {
  try {
    closeSync(openSync(lock, 'wx', mode));
    return true;
  } catch {
    try {
      // The lock is stale and now removed: the next call can take it.
      if (now - statSync(lock).mtimeMs > staleLockMs) rmSync(lock, { force: true });
    } catch {
      // The file is gone already.
    }
    return false;
  }
}
