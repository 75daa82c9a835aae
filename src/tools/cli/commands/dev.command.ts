import { join, relative, resolve } from 'node:path';
import { DevOptions } from '../../../base/config/dev.options.js';
import { givenFlags, type ParsedOptions, parseOptions } from '../../../base/config/parse-options.js';
import { releaseFlagGroups } from '../../../base/config/release-flag-groups.js';
import { controllerOptionGroups, type ServerOptions, serverOptionGroups } from '../../../base/config/server-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { type Running, stopAll, stopLimit } from '../../../base/machinery/lifecycle.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { checkPortFree } from '../../../base/machinery/port-check.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import { advertisedAddress } from '../../../server/advertise/advertised-address.js';
import { lockDirectory } from '../../local-postgres/directory-lock.js';
import { checkFiles } from '../check-files.js';
import type { ClusterInfo } from '../cluster-info.js';
import { type Command, type CommandContext, openLog, parseRequest } from '../command.js';
import { consoleDatabaseUrl } from '../console-database-url.js';
import { localUrl } from '../kubeconfig.js';
import { keepFile, OwnFiles } from '../own-files.js';
import { startOwnPostgres } from '../own-postgres.js';
import {
  authorityOf,
  completeOptions,
  kubeconfigText,
  withLoopFiles,
  withNodeAgents,
  withTokenKey,
  withUsage,
} from '../own-server.js';
import { ensureNodePki, type NodePki } from '../pki/node-pki.js';
import { ensurePki, type Pki } from '../pki/pki.js';
import { isLoopback, publishedServers } from '../published-servers.js';
import { startServing } from '../serving.js';
import { migrateDatabase } from './migrate.command.js';

const groups = {
  dev: DevOptions,
  ...serverOptionGroups,
  ...controllerOptionGroups,
  ignoredEveryProgram: releaseFlagGroups.ignoredEveryProgram,
  ignoredStore: releaseFlagGroups.ignoredStore,
  ignoredServe: releaseFlagGroups.ignoredServe,
  ignoredServer: releaseFlagGroups.ignoredServer,
  ignoredLoops: releaseFlagGroups.ignoredLoops,
} as const;
const defaults = {
  'bind-address': '127.0.0.1',
  controllers: ['*', 'bootstrapsigner', 'tokencleaner'],
  // History and rows with columns are available for exploration from the first start on.
  'history-retention': 72 * 3_600_000,
  'history-max-bytes': 2 * 2 ** 30,
  'sql-projection': 'tables',
} as const;

const kubeconfigName = 'admin.kubeconfig';

type Parsed = ParsedOptions<typeof groups>;

export const devCommand: Command = {
  name: 'dev',
  summary: 'Serve the API on this machine, with its own database, certificates and kubeconfig.',
  groups,
  defaults,
  async run(context) {
    const request = parseRequest(groups, defaults, context);
    const asked = parseOptions(request);
    await checkFiles(groups, asked);
    const logger = openLog(request, asked.logging);
    context.lastResort.logTo(logger);
    const parsed = await withNode(asked, givenFlags(request), context);
    const started: Running[] = [];
    try {
      await start(parsed, givenFlags(request), context, logger, started);
      await context.signals.wait();
      context.signals.endWithin(stopLimit(parsed.api));
    } catch (error) {
      // The reason for not starting matters more than faults while cleaning up.
      await stopAll(started).catch((failure: unknown) => logger.error('could not stop cleanly', { error: failure }));
      throw error;
    }
    await stopAll(started);
  },
};

const podRange = '10.244.0.0/16';

/** The options with those that a node on this machine needs, unless the user has chosen others. */
async function withNode(parsed: Parsed, given: ReadonlySet<string>, { print }: CommandContext): Promise<Parsed> {
  if (!parsed.dev.node) return parsed;
  const { nodeProblem, thisNodeMachine } = await import('../dev-node/node-needs.js');
  const problem = nodeProblem(thisNodeMachine());
  const { simulatedNodes } = parsed.dev;
  if (problem !== undefined) {
    if (simulatedNodes === 0) throw new StartupError(`${problem}; or simulate nodes: --simulated-nodes=3`);
    print(`${problem}; there are simulated nodes in its place`);
    return { ...parsed, dev: { ...parsed.dev, node: false } };
  }
  const { secureServing, nodeIpam, nodeAgents } = parsed;
  const kubeletPreferredAddressTypes = given.has('kubelet-preferred-address-types')
    ? nodeAgents.kubeletPreferredAddressTypes
    : (['InternalIP', 'ExternalIP', 'Hostname'] as const);
  return {
    ...parsed,
    dev: { ...parsed.dev, simulatedNodes: 0 },
    // Pods have to reach it.
    secureServing: given.has('bind-address') ? secureServing : { ...secureServing, bindAddress: '0.0.0.0' },
    nodeIpam: {
      ...nodeIpam,
      allocateNodeCidrs: true,
      clusterCidr: nodeIpam.clusterCidr.length > 0 ? nodeIpam.clusterCidr : [podRange],
    },
    nodeAgents: { ...nodeAgents, kubeletPreferredAddressTypes },
  };
}

async function start(
  parsed: Parsed,
  given: ReadonlySet<string>,
  context: CommandContext,
  logger: Logger,
  started: Running[],
): Promise<void> {
  const directory = resolve(parsed.dev.dataDir);
  // The user that runs Postgres passes through root's folder; secret files inside have a mode of their own.
  makeFolder(directory, process.getuid?.() === 0 ? 0o711 : 0o700);
  const lock = await lockDirectory(directory);
  started.push({ stop: () => lock.release() });
  const { bindAddress, securePort } = parsed.secureServing;
  await checkPortFree(bindAddress, securePort);

  context.print(`Starting with the data in ${directory}`);
  const reached = await reachedAddress(parsed.secureServing);
  if (parsed.dev.node && reached === undefined) {
    throw new StartupError('--node needs an address of this machine that pods reach: give an --advertise-address');
  }
  const pkiDirectory = resolve(parsed.secureServing.certDir ?? join(directory, 'pki'));
  const pki = await ensurePki({
    directory: pkiDirectory,
    bindAddress,
    serviceClusterIpRange: parsed.cluster.serviceClusterIpRange,
    names: reached === undefined ? [] : [reached],
    clock: systemClock,
  });
  const databaseUrl = parsed.storage.databaseUrl ?? (await ownDatabaseUrl(directory, parsed, context, logger, started));
  if (context.signals.signal.aborted) return;
  context.print('Preparing the database and the server');
  await migrateDatabase(databaseUrl, logger);

  const { dev } = parsed;
  const { simulatedNodes } = dev;
  const nodePki = simulatedNodes > 0 ? await ensureNodePki(pkiDirectory, systemClock, simulatedNodes) : undefined;
  const options = await devServerOptions(parsed, given, { pki, nodePki, pkiDirectory, databaseUrl });
  const kubeconfig = join(directory, kubeconfigName);
  const authority = await authorityOf(options, given, pki);
  await keepFile(new OwnFiles(directory), kubeconfigName, kubeconfigText(options, authority, pki), logger);
  if (context.signals.signal.aborted) return;
  const controllers = withLoopFiles(parsed.controllers, given, options, pki);
  const server = await startServing(options, {
    signal: context.signals.signal,
    controllers: {
      events: parsed.events,
      nodeLoops: parsed.nodeLoops,
      nodeIpam: parsed.nodeIpam,
      autoscaler: parsed.autoscaler,
      controllers,
    },
  });
  started.push(server);
  const info = { server: localUrl(reached ?? bindAddress, securePort), authority };
  await publishInfo(options, info, parsed.dev.node, logger);
  if (nodePki !== undefined) {
    const { startDevNodes } = await import('../dev-nodes.js');
    started.push(await startDevNodes(options, { count: simulatedNodes, authority, pki, nodePki, logger }));
  }
  if (dev.node) {
    await startNode(parsed, context, {
      ...{ options, directory, pkiDirectory, authority, pki, logger, started },
      address: reached ?? bindAddress,
    });
  }
  const console = await startConsole(parsed, kubeconfig, databaseUrl, logger);
  if (console !== undefined) started.push(console);
  announce(context, server.url, kubeconfig, console?.url);
}

async function devServerOptions(
  { dev, ...serverFlags }: Parsed,
  given: ReadonlySet<string>,
  made: {
    readonly pki: Pki;
    readonly nodePki: NodePki | undefined;
    readonly pkiDirectory: string;
    readonly databaseUrl: string;
  },
): Promise<ServerOptions> {
  const { pki, nodePki, pkiDirectory, databaseUrl } = made;
  const simulatedNodes = dev.node ? 1 : dev.simulatedNodes;
  const completed = completeOptions(withUsage(serverFlags), given, { pki, databaseUrl, simulatedNodes });
  return withNodeAgents(await withTokenKey(completed, pkiDirectory), given, { pki, nodePki });
}

/** Starts the embedded PostgreSQL. @returns the URL of its database */
async function ownDatabaseUrl(
  directory: string,
  { dev }: Parsed,
  context: CommandContext,
  logger: Logger,
  started: Running[],
): Promise<string> {
  context.print('Starting PostgreSQL');
  const url = await startOwnPostgres(directory, dev.postgresPort, logger, started);
  await reportOrphans(logger);
  return url;
}

type NodeDependencies = Parameters<typeof import('../dev-node/dev-node.js').startDevNode>[0];

/** Starts a node on this machine, and waits until it is ready or the program stops. */
async function startNode(
  { dev, nodeIpam }: Parsed,
  { print, signals: { signal } }: CommandContext,
  dependencies: Omit<NodeDependencies, 'signal' | 'clusterCidrs' | 'pluginFolder' | 'pauseImage'>,
): Promise<void> {
  print('Starting the node: containerd, agent, proxy and name server');
  const { startDevNode } = await import('../dev-node/dev-node.js');
  const { pluginFolder, thisNodeMachine } = await import('../dev-node/node-needs.js');
  const node = await startDevNode({
    ...dependencies,
    signal,
    clusterCidrs: nodeIpam.clusterCidr,
    pluginFolder: pluginFolder(thisNodeMachine()) ?? '',
    pauseImage: dev.podInfraContainerImage,
  });
  await Promise.race([node.ready, aborted(signal)]);
  print(`The node ${node.name} runs pods in containers of ${node.endpoint}; it asks ${node.nameServer} for names`);
}

async function startConsole({ dev, storage }: Parsed, kubeconfig: string, databaseUrl: string, logger: Logger) {
  const { startDevConsole } = await import('../dev-console.js');
  const hasViews = storage.databaseUrl === undefined && storage.sqlProjection !== 'off' && dev.consolePort !== 0;
  const consoleUrl = hasViews ? await consoleDatabaseUrl(databaseUrl) : undefined;
  return startDevConsole(kubeconfig, dev.consolePort, logger, consoleUrl);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function publishInfo(
  options: ServerOptions,
  info: ClusterInfo,
  grantsProxies: boolean,
  logger: Logger,
): Promise<void> {
  const { publishClusterInfo } = await import('../cluster-info.js');
  await publishClusterInfo(options, info, logger, {
    // A document that somebody published for the nodes of other machines stays.
    replaces: (document) => publishedServers(document).every(isLoopback),
    grantsNodeAgents: true,
    grantsProxies,
  });
}

/** Reports databases whose data folder was deleted: otherwise they would stay forever, because nobody looks there. */
async function reportOrphans(logger: Logger): Promise<void> {
  const { databasesRoot, keptDatabases } = await import('../../local-postgres/embedded/orphans.js');
  const orphans = (await keptDatabases(databasesRoot)).filter(({ state }) => state === 'orphaned');
  if (orphans.length === 0) return;
  logger.warn('databases of deleted data folders are left: plinth prune lists and removes them', {
    folder: databasesRoot,
    databases: orphans.length,
  });
}

/** Where other machines reach the server; undefined when they don't. */
async function reachedAddress(serving: Parsed['secureServing']): Promise<string | undefined> {
  const { bindAddress, advertiseAddress } = serving;
  if (advertiseAddress === undefined && isLoopback(bindAddress)) return undefined;
  return advertisedAddress({ bindAddress, advertiseAddress });
}

function announce({ print }: CommandContext, url: string, kubeconfig: string, consoleUrl: string | undefined): void {
  const near = relative(process.cwd(), kubeconfig);
  const shown = near.startsWith('..') ? kubeconfig : near;
  print(`Plinth serves the cluster API on ${url}`);
  print(`Admin kubeconfig: ${kubeconfig}`);
  if (consoleUrl !== undefined) print(`Console: ${consoleUrl}, log in with this kubeconfig`);
  print('Try:');
  print(`  kubectl --kubeconfig ${/^[\w./-]+$/.test(shown) ? shown : JSON.stringify(shown)} get namespaces`);
}
