import type { Change, StoredObject } from '../storage.interface.js';
import type { Row } from './session.js';
import { storedObject } from './statements.js';
import type { QueuedWrite, Write } from './write-queue.js';

/** A committed batch that wrote something. */
export interface WrittenBatch {
  readonly newest: bigint;
  readonly resources: ReadonlySet<string>;
  /**
   * Everything that was committed after version `after`, up to `newest`, in order; undefined when that is not known for
   * sure.
   */
  readonly stretch: { readonly after: bigint; readonly changes: readonly Change[] } | undefined;
}

/** Outcome of a batch in the database. */
export interface BatchOutcome {
  readonly refused: number;
  /** The present object under each key of the batch, by key string. */
  readonly states: ReadonlyMap<string, StoredObject | undefined>;
  /** Undefined when every write was refused. */
  readonly written: WrittenBatch | undefined;
}

/** Reads the rows of `plinth.write_batch` and answers every writer of the batch. */
export function answerBatch(batch: readonly QueuedWrite[], rows: readonly Row[]): BatchOutcome {
  let newest = 0n;
  let refused = 0;
  let after: bigint | undefined;
  const changes: Change[] = [];
  const states = new Map<string, StoredObject | undefined>();
  for (const row of rows) {
    const version = row[1];
    if (row[0] === '0' && typeof version === 'string') after = BigInt(version);
    const entry = batch[Number(row[0]) - 1];
    if (entry === undefined) continue;
    const { write } = entry;
    if (version === null || version === undefined) {
      refused += 1;
      const current = row[3] === null ? undefined : storedObject(write.key, row, 2);
      states.set(entry.keyString, current);
      entry.resolve({ kind: 'refused', current });
      continue;
    }
    const resourceVersion = BigInt(version);
    if (resourceVersion > newest) newest = resourceVersion;
    changes.push(changeOf(write, resourceVersion));
    states.set(
      entry.keyString,
      write.op === 'delete' ? undefined : { key: write.key, uid: write.uid, resourceVersion, json: write.json },
    );
    entry.resolve({ kind: 'written', resourceVersion });
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
