import type { Running } from '../../base/machinery/lifecycle.js';
import type { Logger } from '../../base/observability/logger.js';
import { EmbeddedPostgres } from '../local-postgres/embedded/embedded-postgres.js';
import { keepFile, OwnFiles } from './own-files.js';

/** The name of the file in a data folder that has the URL of its database. */
export const databaseUrlName = 'database-url';

/**
 * Starts the database of a data folder, whose lock the caller holds; resolves with its URL, which is kept there.
 *
 * @param started gets what has to be stopped
 */
export async function startOwnPostgres(
  directory: string,
  port: number | undefined,
  logger: Logger,
  started: Running[],
): Promise<string> {
  const postgres = await EmbeddedPostgres.start({ directory, logger, port });
  started.push(postgres);
  await keepFile(new OwnFiles(directory), databaseUrlName, `${postgres.databaseUrl}\n`, logger);
  return postgres.databaseUrl;
}
