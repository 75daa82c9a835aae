import { StorageError } from '../storage.errors.js';
import { sqlState } from './postgres-errors.js';
import type { Session } from './session.js';

export interface Epoch {
  /** Counts the histories of this database: raised when versions had to start anew behind a gap. */
  readonly epoch: bigint;
  /** Identity of the server's data; undefined when the role may not read it. */
  readonly systemIdentifier: string | undefined;
  readonly timeline: number | undefined;
  /** Newest version on record when a process last looked. */
  readonly highestVersion: bigint;
}

const TIMEOUT_MS = 10_000;

/**
 * Checks that the connection leads to a writable primary whose settings keep the order of versions, and records its
 * identity when none is on record yet. Throws `Unavailable` otherwise; errors of the driver pass.
 */
export async function checkEpoch(session: Session): Promise<Epoch> {
  const [facts] = await session.execute(
    'server-facts',
    `select pg_is_in_recovery(), current_setting('transaction_isolation'), current_setting('transaction_read_only')`,
    TIMEOUT_MS,
  );
  if (facts?.[0] !== 'f') throw new StorageError('Unavailable', 'the database is a standby; connect to the primary');
  if (facts[1] !== 'read committed') {
    throw new StorageError('Unavailable', `the default isolation must be read committed, not ${facts[1]}`);
  }
  if (facts[2] !== 'off') throw new StorageError('Unavailable', 'the database takes no writes');

  const identity = await readIdentity(session);
  const [row] = await session.run(
    {
      name: 'record-epoch',
      text: `update plinth.epoch e set
          system_identifier = coalesce(e.system_identifier, $1), timeline = coalesce(e.timeline, $2),
          highest_version = greatest(e.highest_version, b.head), checked_at = clock_timestamp()
        from plinth.log_bounds() b
        returning e.epoch, e.system_identifier, e.timeline, e.highest_version`,
    },
    [identity.systemIdentifier, identity.timeline],
    TIMEOUT_MS,
  );
  if (row === undefined) throw new StorageError('Unavailable', 'the epoch row is missing');
  return {
    epoch: BigInt(row[0] ?? '0'),
    systemIdentifier: row[1] ?? undefined,
    timeline: row[2] === null || row[2] === undefined ? undefined : Number(row[2]),
    highestVersion: BigInt(row[3] ?? '0'),
  };
}

async function readIdentity(session: Session): Promise<{ systemIdentifier: string | null; timeline: string | null }> {
  try {
    const [row] = await session.execute(
      'server-identity',
      'select s.system_identifier, c.timeline_id from pg_control_system() s, pg_control_checkpoint() c',
      TIMEOUT_MS,
    );
    return { systemIdentifier: row?.[0] ?? null, timeline: row?.[1] ?? null };
  } catch (error) {
    // Managed servers may keep these functions to themselves.
    if (sqlState(error) === '42501') return { systemIdentifier: null, timeline: null };
    throw error;
  }
}
