import { type Authorization, buildAuthorization } from '../authorization/build-authorization.js';
import { type ControlLoopOptions, selectedControllers } from '../config/controllers.options.js';
import type { EventOptions } from '../config/event.options.js';
import type { ServerOptions } from '../config/options.js';
import { type ControllersOptions, startControllers } from '../controllers/controllers.js';
import { closedSecurity } from '../machinery/security.js';
import type { VendorNames } from '../machinery/vendor.js';
import { Logger } from '../observability/logger.js';
import type { Running } from './lifecycle.js';
import { openServedResources } from './served-resources.js';
import { loadSigningAuthorities } from './signing-authorities.js';

/** What the control loops are told, wherever they run. */
export interface ControllersSettings {
  readonly events: Readonly<EventOptions>;
  readonly controllers: Readonly<ControlLoopOptions>;
}

/**
 * Makes what the loops need from their settings.
 *
 * @throws StartupError when files of signing authorities can't be used.
 */
export async function loopOptions(
  { events, controllers }: ControllersSettings,
  names: VendorNames,
): Promise<Pick<ControllersOptions, 'eventTtlMs' | 'enabled' | 'signing'>> {
  return {
    eventTtlMs: events.eventTtlMs,
    enabled: selectedControllers(controllers.controllers),
    signing: await loadSigningAuthorities(controllers, names),
  };
}

/**
 * Runs the control loops as a process of their own: it takes part in the election with all others on the database.
 * Stopping ends the loops, gives the lease back and closes the database.
 *
 * @throws StartupError, MigrationError or StorageError when the files or the database can't be used.
 */
export async function runControllers(
  options: Pick<ServerOptions, 'storage' | 'cluster' | 'authorization' | 'logging'>,
  settings: ControllersSettings,
): Promise<Running> {
  const logger = new Logger(options.logging.logLevel, options.logging.logFormat);
  const stop = new AbortController();
  let authorization: Authorization | undefined;
  const resources = await openServedResources(options, logger, (parts) => {
    authorization = buildAuthorization(options.authorization, { ...parts, logger });
    const { authorizer, rules } = authorization;
    return { ...closedSecurity, authorizer, rules };
  });
  const close = async () => {
    stop.abort();
    await authorization?.stopped();
    await resources.stop();
  };
  try {
    await authorization?.start(stop.signal);
    const { context } = resources;
    const controllers = startControllers({ ...context, logger, ...(await loopOptions(settings, context.names)) });
    logger.info('control loops wait for their turn', { identity: controllers.identity });
    return {
      stop: async () => {
        await controllers.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
