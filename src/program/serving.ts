import { availableParallelism } from 'node:os';
import type { ServerOptions } from '../config/options.js';
import { systemTimers } from '../controllers/timers.js';
import { Logger } from '../observability/logger.js';
import type { RunningServer, WorkerIdentity } from '../server.js';
import type { ControllersSettings } from './controllers.js';
import { exposureProblem, warnOfExposure } from './exposure.js';
import type { Running } from './lifecycle.js';
import { errorText } from './startup-error.js';

/** The API is being served, by this process or by workers of it. */
export interface Serving extends Running {
  readonly url: string;
  /** Runs the control loops in this process. */
  startControllers(settings: ControllersSettings): Promise<Running>;
}

/**
 * Starts serving: in this process, or with `--workers` in several that share the port. Loaded on demand, so that wrong
 * command lines are answered at once.
 *
 * @param signal ends waiting for a database that is not ready
 * @throws whatever keeps the (first) process from starting; nothing runs then.
 */
export async function startServing(options: ServerOptions, signal?: AbortSignal): Promise<Serving> {
  const count = workerCount(options.secureServing.workers);
  if (count > 1) return startWorkers(options, count, signal);
  const server = await serveAlone(options, { syncsViews: true, signal });
  return {
    url: server.url,
    stop: () => server.stop(),
    startControllers: async (settings) => {
      const { startLoops } = await import('./controllers.js');
      return startLoops(server.context, server.logger, settings);
    },
  };
}

/** 0 is one per core. */
function workerCount(workers: number): number {
  return workers === 0 ? availableParallelism() : workers;
}

async function startWorkers(options: ServerOptions, count: number, signal?: AbortSignal): Promise<Serving> {
  const { WorkerPool } = await import('./workers/worker-pool.js');
  const logger = new Logger(options.logging.logLevel, options.logging.logFormat);
  const { pool, url } = await WorkerPool.start(options, count, logger, systemTimers, signal);
  return {
    url,
    stop: () => pool.stop(),
    startControllers: async (settings) => {
      const { runControllers } = await import('./controllers.js');
      return runControllers(options, settings);
    },
  };
}

/**
 * Serves in this process. The one that is asked to also brings the SQL views in line with what it serves, and tells who
 * may do too much. Views that cannot be made are a warning: the API does not need them.
 */
export async function serveAlone(
  options: ServerOptions,
  {
    syncsViews,
    worker,
    signal,
  }: {
    readonly syncsViews: boolean;
    readonly worker?: WorkerIdentity;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<RunningServer> {
  const { startServer } = await import('../server.js');
  const server = await startServer(options, worker, signal);
  if (!syncsViews) return server;
  const { registry, names, security } = server.context;
  if (security.issuer === undefined) {
    server.logger.warn('service accounts get no tokens: neither pods nor kubectl create token', {
      missing: '--service-account-signing-key-file',
    });
  }
  const problem = await exposureProblem(options, security.rules);
  if (problem !== undefined) warnOfExposure(problem, options.logging);
  try {
    const { syncViews } = await import('./sql-views.js');
    await syncViews(options.storage.databaseUrl, registry.definitions(), names.suffix, server.logger);
  } catch (error) {
    server.logger.warn('the SQL views are not up to date', { error: errorText(error) });
  }
  return server;
}
