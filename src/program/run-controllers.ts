import { openApplicationContext } from '../application-context.js';
import type { ControllersSettings, ServerOptions } from '../config/server-options.js';
import { ControllersAppModule } from '../controllers-app.module.js';
import type { Logger } from '../observability/logger.js';
import type { Running } from './lifecycle.js';

/**
 * Runs the control loops as an application of their own. Stopping ends the loops, releases the lease and closes the
 * database.
 *
 * @param signal ends the wait for a database that is not ready
 *
 * @throws StartupError, MigrationError or StorageError when the files or the database can't be used.
 */
export async function runControllers(
  options: Pick<ServerOptions, 'storage' | 'cluster' | 'authorization' | 'admission' | 'aggregation'> &
    ControllersSettings,
  logger: Logger,
  signal?: AbortSignal,
): Promise<Running> {
  const context = await openApplicationContext(ControllersAppModule.of(options, logger, signal), logger);
  return { stop: () => context.close() };
}
