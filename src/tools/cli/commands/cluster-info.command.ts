import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ClusterOptions } from '../../../base/config/cluster.options.js';
import { ClusterInfoOptions } from '../../../base/config/cluster-info.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { StorageOptions } from '../../../base/config/storage.options.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { requireDatabaseUrl } from './migrate.command.js';

const groups = {
  info: ClusterInfoOptions,
  storage: StorageOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

export const clusterInfoCommand: Command = {
  name: 'cluster-info',
  summary:
    'Publish the address and authority of the cluster for nodes that want to join, readable by everybody, and exit.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const parsed = parseOptions(request);
    const { info, storage, cluster, logging } = parsed;
    const databaseUrl = requireDatabaseUrl(storage.databaseUrl);
    await checkFiles(groups, parsed);
    const logger = openLog(request, logging);
    const authority = await readFile(info.certificateAuthority, 'utf8');
    try {
      new X509Certificate(authority);
    } catch {
      throw new StartupError(`${info.certificateAuthority}: no certificate in PEM`);
    }
    const { publishClusterInfo } = await import('../cluster-info.js');
    const { joiningInfo: joiningFacts } = await import('../cluster/joining-objects.js');
    await publishClusterInfo(
      { storage: { ...storage, databaseUrl }, cluster },
      { server: info.server, authority },
      logger,
      { joining: info.joiningTools ? joiningFacts(info.server, cluster) : undefined },
    );
    context.print(`The cluster is published as ${info.server}`);
  },
};
