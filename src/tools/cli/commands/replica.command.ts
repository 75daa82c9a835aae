import { ClusterOptions } from '../../../base/config/cluster.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { ReplicaOptions } from '../../../base/config/replica.options.js';
import { StorageOptions } from '../../../base/config/storage.options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { knock } from '../knock.js';
import { migrateDatabase, requireDatabaseUrl } from './migrate.command.js';

const groups = {
  replica: ReplicaOptions,
  storage: StorageOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

export const replicaCommand: Command = {
  name: 'replica',
  summary:
    'Keep a logical replica in another PostgreSQL, for SQL (views, rows, history) that costs the servers nothing.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const parsed = parseOptions(request);
    const { replica, storage, cluster, logging } = parsed;
    const databaseUrl = requireDatabaseUrl(storage.databaseUrl);
    await checkFiles(groups, parsed);
    const logger = openLog(request, logging);
    context.lastResort.logTo(logger);
    await knock(databaseUrl, logger);
    await migrateDatabase(databaseUrl, logger);
    const { runReplica } = await import('../run-replica.js');
    const { primaryDatabaseUrl, replicaName: name, replicaWithout: without } = replica;
    const settings = { databaseUrl, primaryDatabaseUrl, name, without };
    const { signal } = context.signals;
    const running = await runReplica({ storage: { ...storage, databaseUrl }, cluster }, settings, logger, signal);
    if (running === undefined) return;
    await Promise.race([context.signals.wait(), running.ended]);
    context.signals.endWithin(stopLimit());
    await running.stop();
  },
};
