import { readFile } from 'node:fs/promises';
import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { ClusterOptions } from '../../../base/config/cluster.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { givenFlags, parseOptions } from '../../../base/config/parse-options.js';
import { SimulatedNodesOptions } from '../../../base/config/simulated-nodes.options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { type VendorNames, vendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ApiAccess } from '../../../base/outgoing/api-access.js';
import { ApiConnection } from '../../../nodes/connection/api-connection.js';
import { nodeAddresses } from '../../../nodes/simulated/node-addresses.js';
import { namesOfServer } from '../../../nodes/simulated/server-names.js';
import type { NodeServerCertificates } from '../../../nodes/simulated/simulated-nodes.js';
import { accessOf } from '../api-access.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { issueCertificate } from '../pki/issue-certificate.js';
import { nodeServerRequest } from '../pki/node-pki.js';
import { nodesOf } from '../run-nodes.js';

const groups = {
  client: ApiClientOptions,
  nodes: SimulatedNodesOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

export const nodesCommand: Command = {
  name: 'nodes',
  summary: 'Simulate nodes that pretend to run pods, for any API server. For tests and for trying things out.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const parsed = parseOptions(request);
    await checkFiles(groups, parsed);
    const { client, nodes, cluster, logging } = parsed;
    const logger = openLog(request, logging);
    context.lastResort.logTo(logger);
    const access = await accessOf(client);
    const given = givenFlags(request);
    const isNamed = given.has('vendor') || given.has('compat');
    const found = isNamed ? undefined : await namesFound(access, logger, context.signals.signal);
    if (context.signals.signal.aborted) return;
    const names = found ?? vendorNames(cluster.vendor, cluster.compat);
    const running = await nodesOf({ access, names, logger, options: nodes, server: await serverOf(nodes) });
    void running.registered.then(() => {
      if (!context.signals.signal.aborted) context.print(`${nodes.count} simulated nodes are registered`);
    });
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await running.stop();
  },
};

async function namesFound(access: ApiAccess, logger: Logger, signal: AbortSignal): Promise<VendorNames | undefined> {
  const connection = new ApiConnection(access);
  try {
    return await namesOfServer({ api: connection.own(), timers: systemTimers, logger }, signal);
  } finally {
    connection.stop();
  }
}

/** The certificate of the nodes' own server: that of the flags, or one that is made for this run. */
async function serverOf(options: Readonly<SimulatedNodesOptions>): Promise<NodeServerCertificates> {
  const { nodeTlsCertFile, nodeTlsPrivateKeyFile, nodeClientCaFile, nodeAddress, nodePort } = options;
  const own =
    nodeTlsCertFile === undefined || nodeTlsPrivateKeyFile === undefined
      ? await issueCertificate(nodeServerRequest(nodeAddresses(nodeAddress, options.count)), systemClock.now())
      : {
          certificate: await readFile(nodeTlsCertFile, 'utf8'),
          privateKey: await readFile(nodeTlsPrivateKeyFile, 'utf8'),
        };
  const clientAuthority = nodeClientCaFile === undefined ? undefined : await readFile(nodeClientCaFile, 'utf8');
  return { ...own, port: nodePort, clientAuthority };
}
