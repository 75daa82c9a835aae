import type { EventOptions } from '../config/event.options.js';
import type { ServerOptions } from '../config/options.js';
import { startControllers } from '../controllers/controllers.js';
import { Logger } from '../observability/logger.js';
import type { Running } from './lifecycle.js';
import { openServedResources } from './served-resources.js';

/**
 * Runs the control loops as a process of their own: it takes part in the election with all others on the database.
 * Stopping ends the loops, gives the lease back and closes the database.
 *
 * @throws MigrationError or StorageError when the database can't be used.
 */
export async function runControllers(
  options: Pick<ServerOptions, 'storage' | 'cluster' | 'logging'>,
  { eventTtlMs }: EventOptions,
): Promise<Running> {
  const logger = new Logger(options.logging.logLevel, options.logging.logFormat);
  const resources = await openServedResources(options, logger);
  try {
    const controllers = startControllers({ ...resources.context, logger, eventTtlMs });
    logger.info('control loops wait for their turn', { identity: controllers.identity });
    return {
      stop: async () => {
        await controllers.stop();
        await resources.stop();
      },
    };
  } catch (error) {
    await resources.stop();
    throw error;
  }
}
