import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Waits; rejects as soon as the signal is aborted. */
export type Delay = (ms: number, signal: AbortSignal) => Promise<void>;

/** The wait of the process. Does not keep it alive. */
export const systemDelay: Delay = (ms, signal) => delay(ms, undefined, { signal, ref: false });

/**
 * Looks at files again and again and tells when what is in them has changed. Polling also notices what file events
 * miss: files on network volumes, and links that are turned to a new folder.
 */
export class FilePoll {
  private loop: Promise<void> | undefined;
  private digest: string | undefined;

  /**
   * @param onChange gets all contents in the order of `paths`. Called once for each new state of the files; throws to
   *   refuse it.
   * @param onFault told why a new state was refused or could not be read, once per state.
   */
  constructor(
    private readonly paths: readonly string[],
    private readonly onChange: (contents: readonly Buffer[]) => void,
    private readonly onFault: (error: unknown) => void,
    private readonly intervalMs: number,
    private readonly wait: Delay = systemDelay,
  ) {}

  /** Goes on until the abort. `contents` are those in use already. */
  start(contents: readonly Buffer[], signal: AbortSignal): void {
    this.digest = digestOf(contents);
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
      state = digestOf(contents);
      if (state === this.digest) return;
      this.onChange(contents);
    } catch (error) {
      // A state that was refused is not looked at again; one that can't be read is told once.
      state ??= `unreadable ${(error as NodeJS.ErrnoException).code}`;
      if (state !== this.digest) this.onFault(error);
    }
    this.digest = state;
  }
}

function digestOf(contents: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(`${content.length}:`).update(content);
  return hash.digest('base64');
}
