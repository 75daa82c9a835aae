import type { Queries, QueryPool } from '../postgres/database.js';
import type { ResolvedOptions } from '../postgres/postgres-storage-options.js';
import type { ReadLength } from '../postgres/read-length.js';
import { SessionPool } from '../postgres/session-pool.js';
import { hasHead, text } from '../postgres/statements.js';
import type { StorageError } from '../storage-error.js';

/** What such reads need of the hub. */
export interface HistoryWatch {
  /** Resolves when the hub has seen the version, or (false) does not know a history to which it could belong. */
  observe(version: bigint): Promise<boolean>;
  /** Why nothing may be read any more; undefined while it may. */
  problem(): StorageError | undefined;
}

/**
 * Reads of a process of a machine over connections of its own, opened on first use. Before such a read resolves, the hub
 * has seen the newest version that it shows, since the hub's check of the history speaks for the whole machine.
 */
export class DirectReads implements QueryPool {
  private readonly pool: SessionPool;
  /** The newest version that the hub surely has seen. */
  private known = 0n;
  private underWay: { readonly version: bigint; readonly done: Promise<void> } | undefined;

  constructor(
    options: ResolvedOptions,
    private readonly hub: HistoryWatch,
  ) {
    this.pool = new SessionPool(options);
  }

  async run<T>(use: (session: Queries) => Promise<T>, length?: ReadLength): Promise<T> {
    this.checkHub();
    let newest = 0n;
    const counted = (session: Queries) =>
      use({
        run: async (statement, values, timeoutMs) => {
          const rows = await session.run(statement, values, timeoutMs);
          const head = hasHead(statement) ? BigInt(text(rows[0] ?? [], 1)) : 0n;
          if (head > newest) newest = head;
          return rows;
        },
      });
    const result = await this.pool.run(counted, length);
    // No connection is held meanwhile.
    if (newest > this.known) await this.reported(newest);
    this.checkHub();
    return result;
  }

  /** Records that the hub has seen the version. */
  seenByHub(version: bigint): void {
    if (version > this.known) this.known = version;
  }

  /** Waits for reads in progress and closes the connections. */
  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** Without the hub, nobody watches over the history of the database. */
  private checkHub(): void {
    const problem = this.hub.problem();
    if (problem !== undefined) throw problem;
  }

  /** Reads that show the same version share a message. */
  private reported(version: bigint): Promise<void> {
    const { underWay } = this;
    if (underWay !== undefined && underWay.version >= version) return underWay.done;
    const begun = {
      version,
      done: this.hub
        .observe(version)
        .then((isSeen) => {
          // The caller finds the contradiction too, and reads again.
          if (isSeen) this.seenByHub(version);
        })
        .finally(() => {
          if (this.underWay === begun) this.underWay = undefined;
        }),
    };
    this.underWay = begun;
    return begun.done;
  }
}
