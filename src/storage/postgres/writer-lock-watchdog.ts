import { performance } from 'node:perf_hooks';
import { LinkedItems } from '../../base/machinery/linked-items.js';
import type { Session } from './session.js';
import { FREE_WRITERS } from './statements.js';

/** Work that takes longer than this, in milliseconds, waits for the lock, for a commit or for a response. */
const patienceMs = 3_000;
const lookMs = 1_000;
const timeoutMs = 5_000;

/**
 * Watches over work that needs the writers' lock. Each statement is a transaction of its own, so the holder of the lock
 * depends on its client only for reading the result and for the end of the call. A session whose client does not do
 * that for long, because its process is suspended or its network is down, loses the lock: otherwise nobody could write.
 */
export class WriterLockWatchdog {
  /** Start times of the work in progress. */
  private readonly begun = new LinkedItems<number>();
  /** One timer for all work: a timer for each piece of work costs more than an occasional check. */
  private timer: NodeJS.Timeout | undefined;
  private freeing: Promise<void> | undefined;
  private nextFreeing = 0;

  /**
   * @param open makes a connection
   * @param onFreed receives how many sessions were ended
   */
  constructor(
    private readonly open: () => Promise<Session>,
    private readonly onFreed: (sessions: number) => void,
  ) {}

  /** Waits for work whose statements hold the lock, and ends the holder of the lock if that takes too long. */
  async watch<T>(work: Promise<T>): Promise<T> {
    const place = this.begun.add(performance.now());
    this.timer ??= setInterval(() => this.look(), lookMs).unref();
    try {
      return await work;
    } finally {
      this.begun.remove(place);
    }
  }

  private look(): void {
    const oldest = this.begun.first?.item;
    if (oldest === undefined) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const now = performance.now();
    if (now - oldest < patienceMs || now < this.nextFreeing) return;
    this.nextFreeing = now + patienceMs;
    this.freeing ??= this.free().finally(() => {
      this.freeing = undefined;
    });
  }

  private async free(): Promise<void> {
    let session: Session | undefined;
    try {
      session = await this.open();
      const [row] = await session.run(FREE_WRITERS, [patienceMs], timeoutMs);
      const ended = Number(row?.[0]);
      if (ended > 0) this.onFreed(ended);
    } catch {
      // The work itself reports why the database can't be used.
    } finally {
      await session?.close();
    }
  }
}
