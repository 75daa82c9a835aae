import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { atOnce, inTurns, type Steps } from '../machinery/turns.js';

/** Bytes of a file that are read in one go. */
const bytesOfStep = 1024 * 1024;

/** Waits, and rejects as soon as the signal is aborted. */
export type Delay = (ms: number, signal: AbortSignal) => Promise<void>;

/** The default wait, on the system's timers. It does not keep the process alive. */
export const systemDelay: Delay = (ms, signal) => delay(ms, undefined, { signal, ref: false });

/**
 * Polls files and reports when their content has changed. Polling also notices changes that file events miss: files on
 * network volumes, and links that are redirected to a new folder.
 */
export class FilePoll {
  private loop: Promise<void> | undefined;
  private digest: string | undefined;

  /**
   * @param onChange receives all contents in the order of `paths`, once for each new state of the files. It throws, or
   *   rejects, to refuse a state. The next check comes after it.
   * @param onFault receives the reason why a new state was refused or could not be read, once per state.
   */
  constructor(
    private readonly paths: readonly string[],
    private readonly onChange: (contents: readonly Buffer[]) => void | Promise<void>,
    private readonly onFault: (error: unknown) => void,
    private readonly intervalMs: number,
    private readonly wait: Delay = systemDelay,
  ) {}

  /** Polls until the abort. `contents` are the contents already in use. */
  start(contents: readonly Buffer[], signal: AbortSignal): void {
    this.digest = atOnce(digestOf(contents));
    this.loop = this.run(signal);
  }

  /** Resolves when the loop has ended after the abort. */
  async stopped(): Promise<void> {
    await this.loop;
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.wait(this.intervalMs, signal);
      } catch {
        return;
      }
      await this.look();
    }
  }

  private async look(): Promise<void> {
    let state: string | undefined;
    try {
      const contents = await Promise.all(this.paths.map((path) => readFile(path)));
      state = await inTurns(digestOf(contents));
      if (state === this.digest) return;
      await this.onChange(contents);
    } catch (error) {
      // Content that was refused is not tried again. An unreadable file is reported once.
      state ??= `unreadable ${(error as NodeJS.ErrnoException).code}`;
      if (state !== this.digest) this.onFault(error);
    }
    this.digest = state;
  }
}

function* digestOf(contents: readonly Buffer[]): Steps<string> {
  const hash = createHash('sha256');
  for (const content of contents) {
    hash.update(`${content.length}:`);
    for (let at = 0; at < content.length; at += bytesOfStep) {
      hash.update(content.subarray(at, at + bytesOfStep));
      yield;
    }
  }
  return hash.digest('base64');
}
