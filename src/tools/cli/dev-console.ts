import { errorCode, errorText } from '../../base/machinery/startup-error.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ConsoleSettings, RunningConsole } from '../console/console-server.js';
import { openConsole } from './open-console.js';

const usualPort = 6480;
const sessionMs = 8 * 3_600_000;
// As `plinth console` has them.
const sqlTimeoutMs = 10_000;
const sqlRows = 1000;

/**
 * The console of `plinth dev`.
 *
 * @param port 0: none; undefined: the usual one, or any free one
 * @param databaseUrl for questions in SQL and the timeline, as a role that may only read; undefined: none
 */
export async function startDevConsole(
  kubeconfig: string,
  port: number | undefined,
  logger: Logger,
  databaseUrl?: string,
): Promise<RunningConsole | undefined> {
  if (port === 0) return undefined;
  const settings: ConsoleSettings = {
    bindAddress: '127.0.0.1',
    port: port ?? usualPort,
    origins: [],
    sessionMs,
    logger,
    sql: databaseUrl === undefined ? undefined : { url: databaseUrl, timeoutMs: sqlTimeoutMs, rows: sqlRows },
  };
  try {
    return await openConsole(kubeconfig, settings).catch((error: unknown) => {
      if (port !== undefined || errorCode(error) !== 'EADDRINUSE') throw error;
      return openConsole(kubeconfig, { ...settings, port: 0 });
    });
  } catch (error) {
    // The API does not need the console.
    logger.warn('there is no console', { error: errorText(error) });
    return undefined;
  }
}
