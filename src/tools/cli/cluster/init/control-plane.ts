import { join } from 'node:path';
import { errorText, StartupError } from '../../../../base/machinery/startup-error.js';
import { systemTimers } from '../../../../base/machinery/timers.js';
import type { Logger } from '../../../../base/observability/logger.js';
import type { CommandContext } from '../../command.js';
import { controllersCommand } from '../../commands/controllers.command.js';
import { serveCommand } from '../../commands/serve.command.js';
import { httpsGet } from '../https-get.js';
import type { MadeHere } from '../made-here.js';
import { noCapabilities, Systemd, type Unit, withoutRights } from '../systemd.js';
import { withoutLinks } from '../without-links.js';
import { databaseUnitName, type InitDatabase } from './init-database.js';
import type { InitSettings } from './init-settings.js';
import { nodeKubeconfigName } from './node-kubeconfig.js';
import { databaseFile, type ServerCommands } from './server-commands.js';
import { writeStaticPods } from './static-pods.js';

/** The unit that serves the API. */
export const serveUnitName = 'plinth-serve';

/** How the servers are run. */
export type Manner = 'systemd' | 'foreground' | 'static-pods';

export interface ControlPlaneDependencies {
  readonly settings: InitSettings;
  readonly manner: Manner;
  readonly commands: ServerCommands;
  readonly database: InitDatabase;
  readonly made: MadeHere;
  readonly logger: Logger;
  readonly context: CommandContext;
}

/**
 * Makes sure that the servers run.
 *
 * @returns in the foreground, the end of the servers; otherwise undefined
 */
export async function startControlPlane(
  dependencies: ControlPlaneDependencies,
): Promise<{ readonly ended: Promise<void> } | undefined> {
  const { settings, manner, commands, made, logger } = dependencies;
  if (manner === 'foreground') return { ended: runHere(dependencies) };
  if (manner === 'systemd') {
    await new Systemd(made, logger).run(unitsOf(dependencies));
    return undefined;
  }
  const folder = await withoutLinks(settings.options.init.staticPods ?? '');
  await writeStaticPods(settings, folder, commands, made, logger);
  const kubeconfig = join(made.directory, nodeKubeconfigName);
  logger.info('waiting until the node agent of this machine runs the servers', {
    command: `plinth node --compat=${settings.options.cluster.compat} --kubeconfig ${kubeconfig} --pod-manifest-path ${folder}`,
  });
  return undefined;
}

/** Both servers in this process. When one of them fails, the other one stops too. */
async function runHere({ commands, database, context }: ControlPlaneDependencies): Promise<void> {
  const environment = { ...context.environment, ...database.environment };
  const run = async (command: typeof serveCommand, [, ...argv]: readonly string[]) => {
    try {
      await command.run({ ...context, argv, environment });
    } finally {
      context.signals.abort();
    }
  };
  const outcomes = await Promise.allSettled([
    run(serveCommand, commands.serve),
    run(controllersCommand, commands.controllers),
  ]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function unitsOf({ settings, commands, database }: ControlPlaneDependencies): Unit[] {
  const { configDir } = settings;
  // The socket of the embedded database belongs to the user that runs it.
  const service = database.isEmbedded
    ? withoutRights.map((line) => (line === noCapabilities ? `${line}CAP_DAC_OVERRIDE` : line))
    : withoutRights;
  const after = ['postgresql.service', `${databaseUnitName}.service`];
  return [
    {
      name: serveUnitName,
      description: 'Plinth, cluster API server on PostgreSQL',
      command: commands.serve,
      environmentFile: databaseFile(configDir),
      after,
      service,
    },
    {
      name: 'plinth-controllers',
      description: 'Plinth, control loops',
      command: commands.controllers,
      environmentFile: databaseFile(configDir),
      after: [...after, `${serveUnitName}.service`],
      service,
    },
  ];
}

const pollMs = 200;
const mostBytes = 64 * 1024;

/**
 * Waits until the API of this machine is ready.
 *
 * @param explanation what the server itself has said, for the error; empty: nothing is known
 * @throws StartupError after the time of `--timeout`, with the last reason
 */
export async function waitUntilReady(
  { localServer, options }: InitSettings,
  authority: string,
  signal: AbortSignal,
  explanation: () => Promise<string>,
): Promise<void> {
  const { hostname, port } = new URL(localServer);
  const endpoint = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 443) };
  const deadline = systemTimers.elapsed() + options.init.timeoutMs;
  for (;;) {
    let reason: string;
    try {
      const { status, text } = await httpsGet(endpoint, '/readyz', authority, mostBytes, signal);
      if (status === 200) return;
      reason = text.split('\n').find((line) => line.startsWith('[-]')) ?? `it answers ${status}`;
    } catch (error) {
      reason = errorText(error);
    }
    if (signal.aborted)
      throw new StartupError('stopped while the servers started: the same command goes on from there');
    if (systemTimers.elapsed() > deadline) {
      throw new StartupError(`${localServer} is not ready: ${reason}${await explanation()}`);
    }
    await systemTimers.wait(pollMs, signal);
  }
}
