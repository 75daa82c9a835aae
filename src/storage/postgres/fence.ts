import { sqlState } from '../../base/database/sql-state.js';
import { schemaProblem } from './migrate.js';
import { MigrationError } from './migration-error.js';
import { openCommandSession } from './open-command-session.js';
import { Session } from './session.js';
import { text } from './statements.js';

const TIMEOUT_MS = 60_000;
/**
 * Shown in pg_stat_activity. Every connection of the program has a name like this, and the fence must not count its
 * own.
 */
const OWN_NAME = 'plinth fence';

export interface FenceRequest {
  /**
   * How far to go beyond the newest version in the database: more than the number of versions assigned since the
   * backup.
   */
  readonly bump: bigint;
  /** Continue even while other processes of the program are connected. */
  readonly force: boolean;
}

export interface FenceResult {
  readonly epoch: bigint;
  /** The newest version before the fence. */
  readonly before: bigint;
  /** The newest version now, which is also the oldest that can be read. */
  readonly head: bigint;
  /** The number of connections of other processes of the program. */
  readonly connections: number;
}

/**
 * Makes a restored database safe to serve: versions continue more than `bump` after the newest one, earlier versions
 * can no longer be listed or watched, and a new epoch begins. All of this is one transaction. A second run leaps again,
 * which does no harm.
 *
 * @throws MigrationError when the database can't be reached, is a standby, has another schema version or servers are
 * connected; nothing has changed then.
 */
export async function fence(databaseUrl: string, { bump, force }: FenceRequest): Promise<FenceResult> {
  let session: Session | undefined;
  try {
    session = await openCommandSession(databaseUrl, OWN_NAME);
    const problem = await schemaProblem(session);
    if (problem !== undefined) throw problem;
    const [others] = await session.execute(
      'connections',
      `select count(*) from pg_stat_activity
       where datname = current_database() and application_name like 'plinth%' and application_name <> '${OWN_NAME}'`,
      TIMEOUT_MS,
    );
    const connections = Number(others?.[0] ?? 0);
    if (connections > 0 && !force) {
      throw new MigrationError(
        `${connections} connections of plinth are open on this database: stop the servers and control loops, or add ` +
          '--force to run it anyway (all their watches end, and every client lists again)',
      );
    }
    const [row] = await session.run(
      { name: 'fence', text: 'select epoch, before, head from plinth.fence($1)' },
      [bump.toString()],
      TIMEOUT_MS,
    );
    if (row === undefined) throw new MigrationError('the epoch row is missing');
    return { epoch: BigInt(text(row, 0)), before: BigInt(text(row, 1)), head: BigInt(text(row, 2)), connections };
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    const state = sqlState(error);
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`fencing failed${state === undefined ? '' : ` (SQLSTATE ${state})`}: ${reason}`, {
      cause: error,
    });
  } finally {
    await session?.close();
  }
}
