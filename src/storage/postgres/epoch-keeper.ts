import type { LostVersions } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { standbyReason } from './postgres-errors.js';
import type { EpochChange, StorageObserver } from './postgres-storage-options.js';
import type { Row, Session } from './session.js';
import { CHECK_EPOCH, HISTORY_SIGNS, text } from './statements.js';

/** The history that the database is in, as of the last check. */
export interface Epoch {
  /** Counts the histories of this database. Raised when versions were lost that a process had seen. */
  readonly epoch: bigint;
  /** Identity of the server's data; undefined when the role may not read it. */
  readonly systemIdentifier: string | undefined;
  /** Counts promotions and recoveries of the server; undefined when the server does not report it. */
  readonly timeline: number | undefined;
  /** The oldest version of the epoch; earlier versions can't be read. */
  readonly started: bigint;
}

const TIMEOUT_MS = 10_000;
/** How far versions leap ahead of those that a process may have seen without reporting them to the database. */
const BUMP = 1_000_000_000n;
/** Only a leap makes the head rise this far between two reads. */
export const SUSPICIOUS_LEAP = BUMP / 2n;
const MOST_READS = 4;

/**
 * Tracks the history of the database as far as this process has seen it, and prevents versions from being assigned
 * twice. After a fail-over to a standby that lagged, or a restore, the database may lack versions that were assigned.
 *
 * The check runs in the database, under the writers' lock (`plinth.check_epoch`): before the first write of every
 * writer connection, when a write is refused because the database is in another epoch, when a read finds a head that
 * went back or leapt, and when the heartbeat finds that the signs of the history have changed. So it also runs after a
 * proxy or a pooler has silently moved the connections. Each process contributes the newest version it has seen. The
 * leap covers versions that were seen only by processes that never return.
 */
export class EpochKeeper {
  private readonly observer: StorageObserver;
  private readonly open: (use: (session: Session) => Promise<void>) => Promise<void>;
  private currentEpoch: Epoch | undefined;
  private lostVersions: LostVersions | undefined;
  private newestSeen = 0n;
  /** How often a check found that the history had changed. */
  private moves = 0;
  private checking: Promise<void> | undefined;

  /**
   * @param open runs a check on some connection of the process, or lets another process check and then {@link adopt}s
   * its result. It throws only `StorageError`.
   */
  constructor(observer: StorageObserver, open: (use: (session: Session) => Promise<void>) => Promise<void>) {
    this.observer = observer;
    this.open = open;
  }

  /** The epoch as of the last check; undefined before the first one. */
  get current(): Epoch | undefined {
    return this.currentEpoch;
  }

  get lost(): LostVersions | undefined {
    return this.lostVersions;
  }

  /** The newest version that this process has read or that the database has reported to it. */
  get seen(): bigint {
    return this.newestSeen;
  }

  /**
   * Reports that `version` is committed. A version that lies a leap ahead counts as seen only after the history was
   * checked: a pooler may have moved a writer to a database that others promoted and checked. Only the versions that
   * this process saw before the leap show whether it knows versions that are lost.
   */
  observe(version: bigint): void {
    if (version <= this.newestSeen) return;
    if (this.newestSeen > 0n && version - this.newestSeen >= SUSPICIOUS_LEAP) {
      this.check().catch((error: unknown) => this.observer.backgroundError('check of the history', error));
    } else this.newestSeen = version;
  }

  /**
   * Reads rows whose first one has the head of the log in a column. Never answers from a history other than the one
   * this process works in: when the head went back or leapt, the history is checked and the read repeated. The read is
   * also repeated if a check has found another history meanwhile, since the rows may be from before.
   */
  async read(headColumn: number, load: () => Promise<Row[]>): Promise<Row[]> {
    for (let attempt = 0; attempt < MOST_READS; attempt++) {
      // A notification may arrive before a response. Only a version that was known when the read began can contradict
      // its result.
      const before = this.newestSeen;
      const { moves } = this;
      const rows = await load();
      if (this.moves !== moves) continue;
      const head = BigInt(text(rows[0] ?? [], headColumn));
      const leapt = before > 0n && head - before >= SUSPICIOUS_LEAP && head > this.newestSeen;
      if (head >= before && !leapt) {
        this.observe(head);
        return rows;
      }
      await this.check();
    }
    throw new StorageError('Unavailable', 'the database answers from different histories');
  }

  /** Checks the history on a connection of its own. Calls during a check share it. */
  check(): Promise<void> {
    this.checking ??= this.open((session) => this.enter(session)).finally(() => {
      this.checking = undefined;
    });
    return this.checking;
  }

  /**
   * Checks that the connection leads to a writable primary whose settings preserve the order of versions, and that its
   * history is the recorded one. If not, repairs and records the history. Throws `Unavailable` when the connection
   * can't be used; errors of the driver pass. The limit for each of two statements is in milliseconds.
   */
  async enter(session: Session, limitMs: number = TIMEOUT_MS): Promise<void> {
    const timeoutMs = Math.min(limitMs, TIMEOUT_MS);
    const [info] = await session.execute(
      'server-facts',
      `select pg_is_in_recovery(), current_setting('transaction_isolation'), current_setting('transaction_read_only')`,
      timeoutMs,
    );
    if (info?.[0] !== 'f') {
      throw new StorageError('Unavailable', 'the database is a standby; connect to the primary', {
        reason: standbyReason,
      });
    }
    if (info[1] !== 'read committed') {
      throw new StorageError('Unavailable', `the default isolation must be read committed, not ${info[1]}`);
    }
    if (info[2] !== 'off') {
      throw new StorageError('Unavailable', 'the database takes no writes', { reason: 'the database takes no writes' });
    }
    const seen = this.newestSeen;
    const values = [seen.toString(), this.currentEpoch?.epoch.toString() ?? null, BUMP.toString()];
    const [row] = await session.run(CHECK_EPOCH, values, timeoutMs);
    if (row === undefined) throw new StorageError('Unavailable', 'the epoch row is missing');
    this.learn(row, seen);
  }

  /**
   * Adopts the result of another process that checks for this one. `seen`: the newest version that process has seen.
   */
  adopt(epoch: Epoch, lost: LostVersions | undefined, seen: bigint): void {
    const before = this.currentEpoch;
    if (before !== undefined && epoch.epoch < before.epoch) return;
    if (before !== undefined && (epoch.epoch > before.epoch || lost?.until !== this.lostVersions?.until)) this.moves++;
    this.currentEpoch = epoch;
    this.lostVersions = lost;
    if (seen > this.newestSeen) this.newestSeen = seen;
  }

  /** The heartbeat of the listener: true when the signs of the history have not changed since the last check. */
  async isUnchanged(session: { execute(name: string, sql: string, timeoutMs: number): Promise<unknown> }, ms: number) {
    const rows = (await session.execute(HISTORY_SIGNS.name, HISTORY_SIGNS.text, ms)) as readonly Row[];
    const [epoch, inPlace, timeline] = rows[0] ?? [];
    const current = this.currentEpoch;
    if (current === undefined) return true;
    return (
      epoch === current.epoch.toString() && inPlace === 't' && (timeline ?? undefined) === current.timeline?.toString()
    );
  }

  private learn(row: Row, seen: bigint): void {
    const before = this.currentEpoch;
    // Another check finished earlier. A process never leaves the history it knows for an older one.
    if (before !== undefined && BigInt(text(row, 1)) < before.epoch) return;
    const action = text(row, 0);
    const head = BigInt(text(row, 3));
    const after = BigInt(text(row, 4));
    const until = BigInt(text(row, 5));
    this.currentEpoch = {
      epoch: BigInt(text(row, 1)),
      systemIdentifier: row[6] ?? undefined,
      timeline: row[7] === null || row[7] === undefined ? undefined : Number(row[7]),
      started: BigInt(text(row, 2)),
    };
    this.lostVersions = until > 0n ? { after, until } : undefined;
    if (head > this.newestSeen) this.newestSeen = head;
    const moved =
      before !== undefined &&
      (before.epoch !== this.currentEpoch.epoch || before.timeline !== this.currentEpoch.timeline || action !== 'same');
    if (moved) this.moves++;
    const change: EpochChange = {
      action: action === 'same' ? (moved ? 'joined' : 'same') : action === 'reset' ? 'reset' : 'resumed',
      epoch: this.currentEpoch.epoch,
      timeline: this.currentEpoch.timeline,
      seen,
      head,
      // Checks on several connections may find the same loss; it is counted once.
      missing: before?.epoch === this.currentEpoch.epoch ? 0n : BigInt(text(row, 8)),
    };
    this.observer.epoch(change);
  }
}
