import { inTurns, mappedInSteps } from '../../base/machinery/turns.js';
import { isSealed, plainSealing, type SealedText, type Sealing } from '../encryption/sealing.js';
import type { ChangeLog, LogStretch } from '../feed/change-log.js';
import type { Change, ListScope } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { QueryPool } from './database.js';
import type { EpochKeeper } from './epoch-keeper.js';
import { searchable } from './keys.js';
import type { ReadReplica } from './read-replica.js';
import type { Reader } from './reader.js';
import type { Row, StatementValue } from './session.js';
import { READ_CHANGES, text } from './statements.js';

/** Undefined parts mean everything. */
interface LogScope {
  readonly resources: readonly string[];
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const TYPES = ['create', 'update', 'delete'] as const;
const NO_END = 9_223_372_036_854_775_807n;
const MOST_ROWS = 2_000;
/** The approximate size of a read, in bytes of text: it ends with the change that exceeds this size. */
const MOST_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 15_000;

/** The log in plinth.changes. */
export class PostgresChangeLog implements ChangeLog {
  private readonly pool: QueryPool;
  private readonly reader: Reader;
  private readonly epochs: EpochKeeper;
  private readonly sealing: Sealing;
  private readonly replica: ReadReplica | undefined;

  /** @param replica where the log is read as far as possible; default: nowhere but in the database */
  constructor(
    pool: QueryPool,
    reader: Reader,
    epochs: EpochKeeper,
    sealing: Sealing = plainSealing,
    replica?: ReadReplica,
  ) {
    this.pool = pool;
    this.reader = reader;
    this.epochs = epochs;
    this.sealing = sealing;
    this.replica = replica;
  }

  async readResources(after: bigint, resources: readonly string[]): Promise<LogStretch> {
    const { replica } = this;
    const scope = { resources, namespace: undefined, name: undefined };
    return (replica?.mayRead() && (await this.readReplica(replica, after, scope))) || this.read(after, NO_END, scope);
  }

  async readScope(after: bigint, upto: bigint, { resource, namespace, name }: ListScope): Promise<LogStretch> {
    const scope = { resources: [resource], namespace, name };
    const query = { statement: READ_CHANGES, values: valuesOf(after, upto, scope) };
    const rows = await this.replica?.rowsAt(upto, query);
    return rows === undefined ? this.read(after, upto, scope) : this.stretch(after, upto, rows);
  }

  async head(): Promise<bigint> {
    return (await this.reader.bounds()).head;
  }

  /**
   * Reads from the replica what follows, up to the newest version that the primary is known to have. If no later one is
   * known, the primary is asked for its newest version: so a poll finds what no notification announced. Undefined when
   * the primary has to be read.
   */
  private async readReplica(replica: ReadReplica, after: bigint, scope: LogScope): Promise<LogStretch | undefined> {
    if (replica.known <= after || replica.isUncertain) {
      const head = await this.head();
      replica.confirm(head);
      if (head <= after) return { changes: [], position: after, head, more: false };
    }
    const upto = replica.known;
    const found = await replica.rowsAfter(after, { statement: READ_CHANGES, values: valuesOf(after, upto, scope) });
    if (found === undefined) {
      replica.confirm(await this.head());
      return undefined;
    }
    const stretch = await this.stretch(after, found.upto < upto ? found.upto : upto, found.rows);
    return { ...stretch, head: upto, more: stretch.position < upto };
  }

  private async read(after: bigint, upto: bigint, scope: LogScope): Promise<LogStretch> {
    const values = valuesOf(after, upto, scope);
    this.replica?.countPrimary();
    return this.stretch(
      after,
      upto,
      await this.epochs.read(1, () => this.pool.run((session) => session.run(READ_CHANGES, values, TIMEOUT_MS))),
    );
  }

  private async stretch(after: bigint, upto: bigint, [bounds, ...rows]: readonly Row[]): Promise<LogStretch> {
    if (bounds === undefined) throw new StorageError('Unavailable', 'the retention row is missing');
    const compactRevision = BigInt(text(bounds, 0));
    const head = BigInt(text(bounds, 1));
    if (after < compactRevision) {
      throw new StorageError('Expired', `version ${after} is too old; the oldest is ${compactRevision}`, {
        resourceVersion: compactRevision,
      });
    }
    const changes = await this.opened(rows.map(change));
    const last = rows.at(-1);
    const more = rows.length >= MOST_ROWS || (last !== undefined && Number(last[2]) > MOST_BYTES);
    const end = upto < head ? upto : head;
    const position = more ? (changes.at(-1)?.resourceVersion ?? end) : end;
    return { changes, position: position > after ? position : after, head, more };
  }

  /** A change that can't be decrypted carries the error itself: it only affects subscriptions to its resource. */
  private async opened(changes: Change[]): Promise<readonly Change[]> {
    const sealed: SealedText[] = [];
    for (const { key, json, previousJson } of changes) {
      if (isSealed(json)) sealed.push({ key, stored: json });
      if (previousJson !== undefined && isSealed(previousJson)) sealed.push({ key, stored: previousJson });
    }
    await this.sealing.prepare(sealed);
    const open = (change: Change): Change => {
      const { key, json, previousJson } = change;
      try {
        const now = this.sealing.open(key, json);
        const before = previousJson === undefined ? undefined : this.sealing.open(key, previousJson);
        return now === json && before === previousJson ? change : { ...change, json: now, previousJson: before };
      } catch (error) {
        return { ...change, json: '', previousJson: undefined, unreadable: error as StorageError };
      }
    };
    return sealed.length === 0 ? changes.map(open) : inTurns(mappedInSteps(changes, open));
  }
}

function valuesOf(after: bigint, upto: bigint, { resources, namespace, name }: LogScope): readonly StatementValue[] {
  return [
    after.toString(),
    upto.toString(),
    resources.map(searchable),
    namespace === undefined ? null : searchable(namespace),
    name === undefined ? null : searchable(name),
    MOST_ROWS,
    MOST_BYTES,
  ];
}

function change(row: Row): Change {
  const type = TYPES[Number(row[4])];
  if (type === undefined) throw new StorageError('Unavailable', `unknown type of change: ${row[4]}`);
  return {
    type,
    key: { resource: text(row, 5), namespace: text(row, 6), name: text(row, 7) },
    uid: text(row, 8),
    resourceVersion: BigInt(text(row, 3)),
    json: text(row, 9),
    previousJson: row[10] ?? undefined,
  };
}
