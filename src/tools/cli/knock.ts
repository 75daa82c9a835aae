import { connectionRemedy } from '../../base/database/connection-remedy.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import type { Logger } from '../../base/observability/logger.js';

const patienceMs = 5_000;

/**
 * Tries to reach the database before the rest of the program is loaded, so a wrong URL is reported at once. Logs why a
 * database is not ready and what helps; the start itself waits for it.
 *
 * @throws StartupError for errors that waiting does not fix: a wrong password, a database that does not exist.
 */
export async function knock(databaseUrl: string, logger: Pick<Logger, 'warn'>): Promise<void> {
  const [{ Session }, { silentObserver }, { isHopeless }] = await Promise.all([
    import('../../storage/postgres/session.js'),
    import('../../storage/postgres/postgres-storage-options.js'),
    import('../../storage/until-ready.js'),
  ]);
  try {
    const session = await Session.open({
      url: databaseUrl,
      applicationName: 'plinth start',
      connectTimeoutMs: patienceMs,
      role: 'reader',
      observer: silentObserver,
    });
    await session.close();
  } catch (error) {
    const reason = errorText(error);
    const remedy = connectionRemedy(error);
    if (isHopeless(error))
      throw new StartupError(`the database can't be used: ${reason} (${remedy})`, { cause: error });
    logger.warn('the database is not ready', { reason, remedy });
  }
}
