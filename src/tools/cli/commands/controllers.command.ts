import { AdmissionOptions } from '../../../base/config/admission.options.js';
import { AggregationOptions } from '../../../base/config/aggregation.options.js';
import { AuthorizationOptions } from '../../../base/config/authorization.options.js';
import { ClusterOptions } from '../../../base/config/cluster.options.js';
import type { ControlLoopOptions } from '../../../base/config/control-loop.options.js';
import { ControllersServingOptions, parseBindAddress } from '../../../base/config/controllers-serving.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { NodeAgentOptions } from '../../../base/config/node-agent.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { ProfilingOptions } from '../../../base/config/profiling.options.js';
import { releaseFlagGroups } from '../../../base/config/release-flag-groups.js';
import { controllerOptionGroups } from '../../../base/config/server-options.js';
import { shownFlags } from '../../../base/config/shown-flags.js';
import { StorageOptions } from '../../../base/config/storage.options.js';
import { TracingOptions } from '../../../base/config/tracing.options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { knock } from '../knock.js';
import { requireDatabaseUrl } from './migrate.command.js';

const groups = {
  storage: StorageOptions,
  cluster: ClusterOptions,
  ...controllerOptionGroups,
  controllersServing: ControllersServingOptions,
  authorization: AuthorizationOptions,
  admission: AdmissionOptions,
  aggregation: AggregationOptions,
  nodeAgents: NodeAgentOptions,
  logging: LoggingOptions,
  profiling: ProfilingOptions,
  tracing: TracingOptions,
  ignoredEveryProgram: releaseFlagGroups.ignoredEveryProgram,
  ignoredLoops: releaseFlagGroups.ignoredLoops,
  ignoredLoopServing: releaseFlagGroups.ignoredLoopServing,
} as const;

export const controllersCommand: Command = {
  name: 'controllers',
  summary: 'Run the control loops. If several processes run, one works and the others stand by.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const parsed = parseOptions(request);
    const { storage, logging, controllersServing, profiling, tracing, ...options } = parsed;
    const { controllersMetricsBindAddress: bind, garbageCollector } = controllersServing;
    const address = bind === undefined ? undefined : parseBindAddress(bind);
    const databaseUrl = requireDatabaseUrl(storage.databaseUrl);
    await checkFiles(groups, parsed);
    const logger = openLog(request, logging);
    context.lastResort.logTo(logger);
    await knock(databaseUrl, logger);
    const { signal } = context.signals;
    const { runControllers } = await import('../run-controllers.js');
    const controllers = await runControllers(
      {
        ...options,
        controllers: garbageCollector ? options.controllers : withoutGarbageCollector(options.controllers),
        storage: { ...storage, databaseUrl },
      },
      logger,
      signal,
      address && { ...address, flags: shownFlags(groups, parsed), profiling: profiling.profiling },
      tracing.tracingConfigFile,
    ).catch((error: unknown) => {
      // The process was stopped while it waited for the database.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (controllers === undefined) return;
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await controllers.stop();
  },
};

function withoutGarbageCollector(options: Readonly<ControlLoopOptions>): Readonly<ControlLoopOptions> {
  return { ...options, controllers: [...options.controllers, '-garbagecollector'] };
}
