import { sqlState } from '../../base/database/sql-state.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import type { HistoryQuery } from './history-queries.js';
import { openCommandSession } from './open-command-session.js';
import { type Row, Session, type StatementValue } from './session.js';

const timeoutMs = 600_000;

/**
 * Runs one query about the past, with the rights of the role in the URL.
 *
 * @throws StartupError when the database can't be reached or refuses
 */
export async function queryHistory(databaseUrl: string, query: HistoryQuery): Promise<readonly Row[]> {
  let session: Session | undefined;
  try {
    session = await openCommandSession(databaseUrl, 'plinth sql', 'reader');
    const values = query.values as readonly StatementValue[];
    return await session.run({ name: 'history-query', text: query.text }, values, timeoutMs);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = sqlState(error) === '3F000' ? ': run plinth migrate first' : '';
    throw new StartupError(`${reason}${hint}`, { cause: error });
  } finally {
    await session?.close();
  }
}
