import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgentApiOptions } from '../../../../base/config/agent-api.options.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { lockDirectory } from '../../../local-postgres/directory-lock.js';
import type { CommandContext } from '../../command.js';
import { nodeCommand } from '../../commands/node.command.js';
import { accessOfNode } from '../../node-access.js';
import { keepFile } from '../../own-files.js';
import { nodeFolder } from '../config-folder.js';
import { MadeHere } from '../made-here.js';
import { type Phase, runPhases } from '../phases.js';
import { isSystemdRunning, Systemd } from '../systemd.js';
import { kubeletConfig, refuseTakenName } from './cluster-questions.js';
import { askCluster, type FoundCluster, findCluster, namesOf } from './find-cluster.js';
import type { JoinRequest } from './join-request.js';
import { bootstrapKubeconfig, NodeFiles } from './node-files.js';

export interface JoinDependencies {
  readonly request: JoinRequest;
  readonly directory: string;
  readonly logger: Logger;
  readonly context: CommandContext;
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
  private found: FoundCluster | undefined;
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
    this.found = await findCluster(request, this.files.kubeconfig, context.print, this.signal);
  }

  /** A node that has a certificate keeps it: its agent renews it. */
  private async certify(): Promise<void> {
    const { request, logger } = this.dependencies;
    const found = this.found as FoundCluster;
    const { access } = found;
    const { files, made } = this;
    await askCluster(found, async (api) => {
      this.names = await namesOf(found, api, this.signal);
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
    await askCluster(this.found as FoundCluster, async (api) => {
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
}
