import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { ControllersSettings, ServerOptions } from '../../base/config/server-options.js';
import { sqlProjectionMode } from '../../base/config/sql-projection.js';
import { RULE_RESOLVER, type RuleResolver } from '../../base/machinery/authorizer.js';
import { type Running, stopAll } from '../../base/machinery/lifecycle.js';
import { errorText } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { type ServiceAccountTokenIssuer, TOKEN_ISSUER } from '../../base/machinery/tokens.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import type { MetricsWorker } from '../../base/observability/metrics.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { AUTHENTICATION, type Authentication } from '../../server/authentication/build-authentication.js';
import { AUTHORIZATION, type Authorization } from '../../server/authorization/build-authorization.js';
import type { RunningServer } from '../../start-server.js';
import type { OpenDatabase } from '../../storage/postgres/postgres-storage.js';
import { exposureProblem, warnOfExposure } from './exposure.js';
import { unservedPolicies } from './unserved-policies.js';

/** The served API, in this process or in its workers. */
export interface Serving extends Running {
  readonly url: string;
}

/**
 * Starts serving: in this process, or with `--workers` in several that share the port. Loaded on demand, so that wrong
 * command lines are answered at once.
 *
 * @throws the error that keeps the (first) process from starting; nothing runs then.
 */
export async function startServing(options: ServerOptions, dependencies: ServingDependencies = {}): Promise<Serving> {
  const count = workerCount(options.secureServing.workers);
  if (count > 1) return startWorkers(options, count, dependencies);
  return serveAlone(options, { ...dependencies, isFirst: true });
}

/** The number of workers for the flag: 0 means one per core. */
function workerCount(workers: number): number {
  return workers === 0 ? availableParallelism() : workers;
}

async function startWorkers(
  options: ServerOptions,
  count: number,
  { controllers, signal }: ServingDependencies,
): Promise<Serving> {
  const { WorkerPool } = await import('./workers/worker-pool.js');
  const logger = new Logger(options.logging.logLevel, options.logging.logFormat);
  const { pool, url } = await WorkerPool.start(options, count, logger, systemTimers, signal);
  const started: Running[] = [pool];
  try {
    if (controllers !== undefined) {
      const { runControllers } = await import('./run-controllers.js');
      const running = await runControllers(
        { ...options, ...controllers },
        logger,
        signal,
        undefined,
        options.tracing.tracingConfigFile,
      );
      pool.shareMetrics(running.metrics);
      started.push(running);
    }
  } catch (error) {
    await pool.stop();
    throw error;
  }
  return { url, stop: () => stopAll(started) };
}

/**
 * Loads what serving needs while the connection to the database is being made: it is opened in the first turn of the
 * event loop, its first message is sent in the second, and the response arrives meanwhile.
 */
export async function loadServing(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await setImmediate();
  await import('../../start-server.js');
}

/** What runs besides serving. */
export interface ServingDependencies {
  /** Ends the wait for a database that is not ready. */
  readonly signal?: AbortSignal | undefined;
  /** Runs the control loops as well, always in this process. */
  readonly controllers?: ControllersSettings | undefined;
}

/** Options of a process that serves by itself. */
export interface ServeAloneDependencies extends ServingDependencies {
  /**
   * Whether nothing serves on the port yet: such a process answers health checks while it starts, brings the SQL views in
   * line with what is served, and warns about the configuration.
   */
  readonly isFirst: boolean;
  readonly worker?: MetricsWorker | undefined;
  /** Opens the database; default: connections of this process. */
  readonly openDatabase?: OpenDatabase | undefined;
}

/**
 * Serves in this process. The first process (`isFirst`) also updates the SQL views to the served resources and warns of
 * exposure. Views that cannot be made are a warning: the API does not need them.
 */
export async function serveAlone(
  options: ServerOptions,
  { isFirst, worker, openDatabase, controllers, signal }: ServeAloneDependencies,
): Promise<RunningServer> {
  const { startServer } = await import('../../start-server.js');
  const { logLevel, logFormat } = options.logging;
  const logger = new Logger(logLevel, logFormat, undefined, worker === undefined ? {} : { worker: worker.index });
  const server = await startServer(options, {
    logger,
    worker,
    openDatabase,
    controllers,
    signal,
    answersWhileStarting: isFirst,
  });
  if (!isFirst) return server;
  if (server.get<ServiceAccountTokenIssuer | undefined>(TOKEN_ISSUER) === undefined) {
    logger.warn('service accounts get no tokens: neither pods nor kubectl create token', {
      missing: '--service-account-signing-key-file',
    });
  }
  const withoutPolicies = unservedPolicies(options.admission, server.get(ResourceRegistry));
  if (withoutPolicies !== undefined) logger.warn(withoutPolicies);
  const { anonymous } = server.get<Authentication>(AUTHENTICATION);
  const anonymousAuth = anonymous.isEnabled && anonymous.paths.length === 0;
  const { modes: authorizationMode } = server.get<Authorization>(AUTHORIZATION);
  const exposed = { ...options, authentication: { anonymousAuth }, authorization: { authorizationMode } };
  const problem = await exposureProblem(exposed, server.get<RuleResolver>(RULE_RESOLVER));
  if (problem !== undefined) warnOfExposure(problem, options.logging);
  try {
    const { syncViews } = await import('../../loops/controllers/sql-views/sync-views.js');
    const definitions = server.get(ResourceRegistry).definitions();
    const { suffix } = server.get<VendorNames>(VENDOR_NAMES);
    const { databaseUrl, sqlProjection, sqlProjectionOverrides } = options.storage;
    await syncViews(databaseUrl, definitions, suffix, sqlProjectionMode(sqlProjection, sqlProjectionOverrides), logger);
  } catch (error) {
    logger.warn('the SQL views are not up to date', { error: errorText(error) });
  }
  return server;
}
