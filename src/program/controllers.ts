import { type Authorization, buildAuthorization } from '../authorization/build-authorization.js';
import { type ControlLoopOptions, selectedControllers } from '../config/controllers.options.js';
import type { EventOptions } from '../config/event.options.js';
import type { ServerOptions } from '../config/options.js';
import { type RunningControllers, startControllers } from '../controllers/controllers.js';
import { closedSecurity } from '../machinery/security.js';
import { Logger } from '../observability/logger.js';
import type { GroupContext } from '../registry/group-context.js';
import type { Running } from './lifecycle.js';
import { LoopFiles } from './loop-files.js';
import { openServedResources } from './served-resources.js';

/** What the control loops are told, wherever they run. */
export interface ControllersSettings {
  readonly events: Readonly<EventOptions>;
  readonly controllers: Readonly<ControlLoopOptions>;
}

/**
 * Starts the control loops on resources that are open. They use changed files without a restart.
 *
 * @throws StartupError when their files can't be used.
 */
export function startLoops(
  context: GroupContext,
  logger: Logger,
  { events, controllers: options }: ControllersSettings,
): RunningControllers {
  const files = new LoopFiles(options, context.names, logger);
  files.start();
  const enabled = selectedControllers(options.controllers);
  for (const { controller, missing, effect } of missingFiles(files.parts)) {
    if (enabled.has(controller)) logger.warn(effect, { missing });
  }
  const controllers = startControllers({
    ...context,
    ...files.parts,
    logger,
    enabled,
    eventTtlMs: events.eventTtlMs,
  });
  return {
    identity: controllers.identity,
    get isLeading() {
      return controllers.isLeading;
    },
    stop: async () => {
      await controllers.stop();
      await files.stop();
    },
  };
}

/** What control loops can't do for want of a file. */
function missingFiles({ signing, signToken, rootAuthority }: LoopFiles['parts']) {
  const needs = [
    ['csrsigning', signing, '--cluster-signing-cert-file', 'approved certificate requests stay unsigned'],
    ['serviceaccount-token', signToken, '--service-account-private-key-file', 'secrets of account tokens stay empty'],
    ['root-ca-cert-publisher', rootAuthority, '--root-ca-file', "namespaces are not told the API's authority"],
  ] as const;
  return needs.flatMap(([controller, part, missing, effect]) =>
    part === undefined ? [{ controller, missing, effect }] : [],
  );
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
  signal: AbortSignal = new AbortController().signal,
): Promise<Running> {
  const logger = new Logger(options.logging.logLevel, options.logging.logFormat);
  const stop = new AbortController();
  let authorization: Authorization | undefined;
  const resources = await openServedResources(
    options,
    logger,
    (parts) => {
      authorization = buildAuthorization(options.authorization, { ...parts, logger });
      const { authorizer, rules } = authorization;
      return { ...closedSecurity, authorizer, rules };
    },
    signal,
  );
  const close = async () => {
    stop.abort();
    await authorization?.stopped();
    await resources.stop();
  };
  try {
    signal.addEventListener('abort', () => stop.abort(), { once: true });
    await authorization?.start(stop.signal);
    const controllers = startLoops(resources.context, logger, settings);
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
