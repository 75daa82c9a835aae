import type { ControllersSettings, ServerOptions } from '../../base/config/server-options.js';
import { type Running, stopAll } from '../../base/machinery/lifecycle.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { openApplicationContext } from '../../base/process/application-context.js';
import { beginExchange } from '../../base/process/engine-phases.js';
import { ControllersAppModule } from '../../controllers-app.module.js';
import { processInfo } from '../../server/endpoints/debug/process-info.module.js';
import { versionInfo } from '../../server/endpoints/discovery/version-info.js';
import { openTracer, tracingSettings } from '../../server/endpoints/tracing.module.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { startControllersServer } from './controllers-server.js';

/** Control loops that run, and what they count. */
export interface RunningControllersProcess extends Running {
  readonly metrics: Metrics;
}

/**
 * Runs the control loops as an application of their own. Stopping ends the loops, releases the lease and closes the
 * database.
 *
 * @param signal ends the wait for a database that is not ready
 * @param serving where to serve metrics and health; default: nowhere
 * @param tracingConfigFile where traces of the work on keys go; default: nowhere
 *
 * @throws StartupError, MigrationError or StorageError when the files or the database can't be used.
 */
export async function runControllers(
  options: Pick<ServerOptions, 'storage' | 'cluster' | 'authorization' | 'admission' | 'aggregation' | 'nodeAgents'> &
    ControllersSettings,
  logger: Logger,
  signal?: AbortSignal,
  serving?: {
    readonly host: string;
    readonly port: number;
    readonly flags: readonly string[];
    readonly profiling: boolean;
  },
  tracingConfigFile?: string,
): Promise<RunningControllersProcess> {
  beginExchange();
  const { vendor, compat } = options.cluster;
  const tracing = tracingSettings(tracingConfigFile, vendorNames(vendor, compat), 'controller-manager');
  const context = await openApplicationContext(ControllersAppModule.of(options, logger, signal), logger);
  const started: Running[] = [{ stop: () => context.close() }];
  const metrics = context.get(Metrics, { strict: false });
  metrics.setBuild(versionInfo());
  const tracer = await openTracer(tracing);
  if (tracer !== undefined) {
    metrics.queues.tracer = tracer;
    // The tracer stops last. Traces that the receiver does not accept by then are lost; the stop continues.
    started.unshift({ stop: () => tracer.stop().catch(() => undefined) });
  }
  if (serving === undefined) return { metrics, stop: () => stopAll(started) };
  try {
    const storage = context.get<Storage>(STORAGE, { strict: false });
    started.push(
      await startControllersServer({
        ...serving,
        metrics,
        storage,
        info: processInfo('controller-manager', serving.flags),
      }),
    );
  } catch (error) {
    await stopAll(started);
    throw error;
  }
  return { metrics, stop: () => stopAll(started) };
}
