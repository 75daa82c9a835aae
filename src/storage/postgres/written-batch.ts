import { invariant } from '../../base/machinery/invariant.js';
import { isSealed, type SealedText, type Sealing } from '../encryption/sealing.js';
import type { Change, StoredObject, Write } from '../storage.interface.js';
import type { StorageError } from '../storage-error.js';
import type { Row } from './session.js';
import { storedObject } from './statements.js';
import type { QueuedWrite } from './write-queue.js';

/** A committed batch that wrote something. */
export interface WrittenBatch {
  readonly newest: bigint;
  readonly resources: ReadonlySet<string>;
  /**
   * Everything that was committed after version `after`, up to `newest`, in order; undefined when that is uncertain.
   */
  readonly stretch:
    | {
        readonly after: bigint;
        readonly changes: readonly Change[];
        /** Resources whose changes are left out, because they had no subscriptions when the batch was sent. */
        readonly withheld?: readonly string[] | undefined;
      }
    | undefined;
}

/** Outcome of a batch in the database. */
export interface BatchOutcome {
  readonly refused: number;
  /** The current object under each key of the batch, by key string. */
  readonly states: ReadonlyMap<string, StoredObject | undefined>;
  /** Undefined when every write was refused. */
  readonly written: WrittenBatch | undefined;
}

/** The encrypted texts of current objects in the rows of `plinth.write_batch`. */
export function sealedCurrents(batch: readonly QueuedWrite[], rows: readonly Row[]): SealedText[] {
  const found: SealedText[] = [];
  for (const row of rows) {
    if (row[0] === '0') continue;
    const key = batch[Number(row[0]) - 1]?.write.key;
    const stored = row[4];
    if (key !== undefined && typeof stored === 'string' && isSealed(stored)) found.push({ key, stored });
  }
  return found;
}

/**
 * Reads the rows of `plinth.write_batch` and completes every write of the batch.
 *
 * @throws InvariantError when a version is not newer than all before it; some writes are then not completed
 */
export function answerBatch(batch: readonly QueuedWrite[], rows: readonly Row[], sealing: Sealing): BatchOutcome {
  let newest = 0n;
  let refused = 0;
  let after: bigint | undefined;
  const changes: Change[] = [];
  const states = new Map<string, StoredObject | undefined>();
  const contradicted = new Set<readonly QueuedWrite[]>();
  const tied: QueuedWrite[] = [];
  for (const row of rows) {
    const version = row[1];
    if (row[0] === '0') {
      if (typeof version === 'string') after = BigInt(version);
      continue;
    }
    const entry = batch[Number(row[0]) - 1];
    if (entry === undefined) continue;
    const { write } = entry;
    if (version === null || version === undefined) {
      refused += 1;
      let current: StoredObject | undefined;
      try {
        current = row[3] === null ? undefined : storedObject(write.key, row, 2, sealing);
      } catch (error) {
        entry.reject(error as StorageError);
        continue;
      }
      states.set(entry.keyString, current);
      if (entry.tied === undefined) entry.resolve({ kind: 'refused', current });
      else {
        tied.push(entry);
        if ((current?.resourceVersion ?? null) !== write.expected) contradicted.add(entry.tied);
      }
      continue;
    }
    const resourceVersion = BigInt(version);
    invariant(after === undefined || resourceVersion > after, 'versions only rise', resourceVersion, after);
    if (resourceVersion > newest) newest = resourceVersion;
    changes.push(changeOf(write, resourceVersion));
    states.set(
      entry.keyString,
      write.op === 'delete' ? undefined : { key: write.key, uid: write.uid, resourceVersion, json: write.json },
    );
    entry.resolve({ kind: 'written', resourceVersion });
  }
  for (const entry of tied) {
    const current = states.get(entry.keyString);
    const isContradicted = (current?.resourceVersion ?? null) !== entry.write.expected;
    // If nothing else stopped a group, its creates lacked the namespace or the definition.
    const { inLiveNamespace, definedBy } = entry.write;
    const needsPlace = inLiveNamespace === true || definedBy !== undefined;
    const hadNoPlace = needsPlace && !contradicted.has(entry.tied ?? []);
    entry.resolve(isContradicted || hadNoPlace ? { kind: 'refused', current } : { kind: 'withdrawn' });
  }
  if (newest === 0n) return { refused, states, written: undefined };
  const resources = new Set(changes.map((change) => change.key.resource));
  const stretch = after !== undefined && changes.every(isComplete) ? { after, changes } : undefined;
  if (changes.length > 1) changes.sort(byVersion);
  return { refused, states, written: { newest, resources, stretch } };
}

function changeOf({ op, key, uid, json, previousJson }: Write, resourceVersion: bigint): Change {
  return { type: op, key, uid, resourceVersion, json, previousJson };
}

function isComplete({ type, previousJson }: Change): boolean {
  return type === 'create' || previousJson !== undefined;
}

function byVersion(a: Change, b: Change): number {
  return a.resourceVersion < b.resourceVersion ? -1 : 1;
}
