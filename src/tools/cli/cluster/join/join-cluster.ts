import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgentApiOptions } from '../../../../base/config/agent-api.options.js';
import { errorText, StartupError } from '../../../../base/machinery/startup-error.js';
import { systemTimers } from '../../../../base/machinery/timers.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { type ApiAccess, fixedAccess } from '../../../../base/outgoing/api-access.js';
import { ApiConnection, ApiError, type ApiUser } from '../../../../nodes/connection/api-connection.js';
import { possibleNames } from '../../../../nodes/connection/find-names.js';
import { lockDirectory } from '../../../local-postgres/directory-lock.js';
import { accessOfFile } from '../../api-access.js';
import type { CommandContext } from '../../command.js';
import { nodeCommand } from '../../commands/node.command.js';
import { accessOfNode } from '../../node-access.js';
import { keepFile } from '../../own-files.js';
import { nodeFolder } from '../config-folder.js';
import { MadeHere } from '../made-here.js';
import { type Phase, runPhases } from '../phases.js';
import { isSystemdRunning, Systemd } from '../systemd.js';
import { kubeletConfig, refuseTakenName } from './cluster-questions.js';
import { discoverCluster } from './discover-cluster.js';
import type { JoinRequest } from './join-request.js';
import { bootstrapKubeconfig, NodeFiles } from './node-files.js';
import { readClusterInfo } from './read-cluster-info.js';

export interface JoinDependencies {
  readonly request: JoinRequest;
  readonly directory: string;
  readonly logger: Logger;
  readonly context: CommandContext;
}

/** A verified cluster, and the credentials for asking it for a certificate. */
interface Found {
  readonly access: ApiAccess;
  /** The spelling that the cluster has, if its public information was read. */
  readonly publicNamespace: string | undefined;
}

const unitName = 'plinth-node';

/**
 * Makes this machine a node: finds and verifies the cluster, gets a certificate with a bootstrap token, and starts the
 * agent. A run that was stopped anywhere, or that is repeated, continues. In the foreground it returns when the agent
 * has ended.
 *
 * @throws StartupError for input that can't work, or a cluster that can't be trusted
 */
export async function joinCluster(dependencies: JoinDependencies): Promise<void> {
  const { request, directory, context } = dependencies;
  const { options } = request;
  if (options.dryRun) {
    await runPhases(new JoinPhases(dependencies, undefined).all(), phaseSettings(dependencies));
    return;
  }
  const made = await MadeHere.open(directory);
  const folder = await made.folder(nodeFolder(made.directory));
  const lock = await lockDirectory(folder, '--config-dir');
  try {
    const phases = new JoinPhases(dependencies, { made, files: new NodeFiles(folder) });
    await runPhases(phases.all(), phaseSettings(dependencies));
    await phases.ended;
  } finally {
    await lock.release();
    context.signals.abort();
  }
}

function phaseSettings({ request, context }: JoinDependencies) {
  const { skipPhases: skipped, dryRun } = request.options;
  return { skipped, dryRun, signal: context.signals.signal, print: context.print };
}

interface Place {
  readonly made: MadeHere;
  readonly files: NodeFiles;
}

class JoinPhases {
  /** The end of the agent, if it runs in this process. */
  ended: Promise<void> | undefined;
  private found: Found | undefined;
  private names: VendorNames | undefined;

  constructor(
    private readonly dependencies: JoinDependencies,
    private readonly place: Place | undefined,
  ) {}

  all(): readonly Phase[] {
    const { nodeName, discovery } = this.dependencies.request;
    const where = 'file' in discovery ? discovery.file : `${discovery.endpoint.host}:${discovery.endpoint.port}`;
    const start = this.usesSystemd ? `run ${unitName}.service` : 'run the node agent in this process';
    return [
      { name: 'preflight', plan: () => ['check this machine'], run: () => this.preflight() },
      { name: 'discovery', plan: () => [`find and verify the cluster by ${where}`], run: () => this.discover() },
      { name: 'certificate', plan: () => [`get the certificate of the node ${nodeName}`], run: () => this.certify() },
      { name: 'kubelet-config', plan: () => ["read the settings of the cluster's nodes"], run: () => this.configure() },
      { name: 'kubelet-start', plan: () => [start], run: () => this.start() },
    ];
  }

  private get usesSystemd(): boolean {
    return !this.dependencies.request.options.foreground && isSystemdRunning();
  }

  private get signal(): AbortSignal {
    return this.dependencies.context.signals.signal;
  }

  private get files(): NodeFiles {
    return (this.place as Place).files;
  }

  private get made(): MadeHere {
    return (this.place as Place).made;
  }

  private async preflight(): Promise<void> {
    const { criSocket } = this.dependencies.request.options;
    if (process.getuid?.() !== 0) throw new StartupError('a node agent needs root');
    const socket = criSocket.replace(/^unix:\/\//, '');
    if (!existsSync(socket)) {
      throw new StartupError(`there is no container runtime at ${criSocket}: start one, or name another --cri-socket`);
    }
  }

  private async discover(): Promise<void> {
    const { request, context } = this.dependencies;
    const { discovery, bootstrapToken, options } = request;
    const hasJoined = existsSync(this.files.kubeconfig);
    if (hasJoined || 'file' in discovery) {
      const own = await accessOfFile(hasJoined || !('file' in discovery) ? this.files.kubeconfig : discovery.file);
      if (hasJoined) context.print(`[discovery] this machine has already joined ${own.server}`);
      const isOwn = hasJoined || bootstrapToken === undefined;
      const access = isOwn ? own : fixedAccess(own.server, own.tls, `Bearer ${bootstrapToken}`);
      this.found = { access, publicNamespace: await publicNamespace(access, this.signal) };
      return;
    }
    const cluster = await discoverCluster(
      {
        ...discovery,
        pins: options.discoveryTokenCaCertHash.map((pin) => pin.toLowerCase()),
        timeoutMs: options.timeoutMs,
        timers: systemTimers,
        onWait: (reason) => context.print(`[discovery] waiting: ${reason}`),
      },
      this.signal,
    );
    const nothing = { cert: undefined, key: undefined, serverName: undefined, insecureSkipVerify: false };
    const tls = { ...nothing, ca: cluster.authority };
    const access = fixedAccess(cluster.server, tls, `Bearer ${bootstrapToken}`);
    this.found = { access, publicNamespace: cluster.publicNamespace };
  }

  /** A node that has a certificate keeps it: its agent renews it. */
  private async certify(): Promise<void> {
    const { request, logger } = this.dependencies;
    const { access } = this.found as Found;
    const { files, made } = this;
    await this.withApi(async (api) => {
      this.names = await this.namesOf(api);
      if (!existsSync(files.kubeconfig)) await refuseTakenName(api, request.nodeName, this.signal);
    });
    if (access.tls.ca !== undefined) await keepFile(made.files, files.authority, access.tls.ca, logger, 0o644);
    await made.tree(files.certificates);
    await made.folder(files.certificates);
    if (!existsSync(files.kubeconfig)) {
      const text = await bootstrapKubeconfig(access);
      await made.files.write(files.bootstrapKubeconfig, text, 0o600);
      await made.tree(files.kubeconfig);
    }
    const { kubeconfig, bootstrapKubeconfig: bootstrap, certificates: certDir } = files;
    const limit = AbortSignal.timeout(request.options.timeoutMs);
    await accessOfNode({
      options: { ...new AgentApiOptions(), kubeconfig, bootstrapKubeconfig: bootstrap, certDir },
      names: this.names as VendorNames,
      nodeName: request.nodeName,
      logger,
      signal: AbortSignal.any([this.signal, limit]),
    });
    // The secret of the token has done its work.
    await made.files.remove(files.bootstrapKubeconfig);
  }

  private async configure(): Promise<void> {
    const { systemNamespace } = this.names as VendorNames;
    await this.withApi(async (api) => {
      const text = await kubeletConfig(api, systemNamespace, this.signal);
      const { logger } = this.dependencies;
      if (text !== undefined) await keepFile(this.made.files, this.files.configuration, text, logger);
    });
  }

  private async start(): Promise<void> {
    const { request, context, logger } = this.dependencies;
    const argv = this.files.agentFlags(request, this.names as VendorNames);
    if (!this.usesSystemd) {
      this.ended = nodeCommand.run({ ...context, argv });
      return;
    }
    const unit = {
      name: unitName,
      description: 'Plinth, node agent',
      command: ['node', ...argv],
      environmentFile: join(this.made.directory, 'node.env'),
      after: ['containerd.service', 'crio.service'],
    };
    await new Systemd(this.made, logger).run([unit]);
    context.print(`The node ${request.nodeName} joins. See: journalctl -u ${unitName}, kubectl get nodes`);
  }

  private async namesOf(api: ApiUser): Promise<VendorNames> {
    const { publicNamespace } = this.found as Found;
    const possible = await possibleNames(api, this.signal);
    const names = possible.find((each) => each.publicNamespace === publicNamespace) ?? possible.at(-1);
    if (names === undefined) throw new StartupError('the server is no server of a cluster');
    return names;
  }

  private async withApi(work: (api: ApiUser) => Promise<void>): Promise<void> {
    const { access } = this.found as Found;
    const connection = new ApiConnection(access, { userAgent: 'plinth-join' });
    try {
      await work(connection.own());
    } catch (error) {
      if (error instanceof StartupError) throw error;
      if (error instanceof ApiError && error.status === 401) {
        throw new StartupError(
          `${access.server} refuses the token: it is unknown, has expired, or is not for authentication`,
        );
      }
      throw new StartupError(`${access.server}: ${errorText(error)}`, { cause: error });
    } finally {
      connection.stop();
    }
  }
}

/** Where a server publishes the information of its cluster; undefined when it does not, or not for everybody. */
async function publicNamespace({ server, tls }: ApiAccess, signal: AbortSignal): Promise<string | undefined> {
  const { hostname, port } = new URL(server);
  const endpoint = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 443) };
  try {
    return (await readClusterInfo(endpoint, tls.ca, signal)).namespace;
  } catch {
    return undefined;
  }
}
