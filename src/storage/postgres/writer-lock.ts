import type { Session } from './session.js';
import { FREE_WRITERS } from './statements.js';

/** Work that takes longer than this waits for the lock, for a commit or for an answer, in milliseconds. */
const patienceMs = 3_000;
const timeoutMs = 5_000;

/**
 * Watches over work that needs the lock of the writers. Each statement is a transaction of its own, so whoever holds the lock
 * needs nothing of his client but to read the answer, and the end of the call. Whoever does not do that for long, because his
 * process stands still or his network is gone, loses the lock: otherwise nobody could write.
 */
export class WriterLock {
  private freeing: Promise<void> | undefined;

  /**
   * @param open makes a connection
   * @param onFreed is told how many sessions were ended
   */
  constructor(
    private readonly open: () => Promise<Session>,
    private readonly onFreed: (sessions: number) => void,
  ) {}

  async during<T>(work: Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      this.freeing ??= this.free().finally(() => {
        this.freeing = undefined;
      });
    }, patienceMs);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  private async free(): Promise<void> {
    let session: Session | undefined;
    try {
      session = await this.open();
      const [row] = await session.run(FREE_WRITERS, [patienceMs], timeoutMs);
      const ended = Number(row?.[0]);
      if (ended > 0) this.onFreed(ended);
    } catch {
      // The work itself tells why the database can't be used.
    } finally {
      await session?.close();
    }
  }
}
