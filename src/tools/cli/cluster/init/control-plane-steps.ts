import { lstat } from 'node:fs/promises';
import type { ControlPlaneOptions } from '../../../../base/config/control-plane.options.js';
import { systemClock } from '../../../../base/machinery/clock.js';
import { checkPortFree } from '../../../../base/machinery/port-check.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { type ApiAccess, fixedAccess } from '../../../../base/outgoing/api-access.js';
import type { CommandContext } from '../../command.js';
import { formatKubeconfig } from '../../kubeconfig.js';
import { keepFile } from '../../own-files.js';
import { ensurePki, type Pki } from '../../pki/pki.js';
import { ensureServiceAccountKey } from '../../pki/service-account-key.js';
import { adminKubeconfigName } from '../admin-kubeconfig.js';
import type { MadeHere } from '../made-here.js';
import { isSystemdRunning, programAnd, Systemd } from '../systemd.js';
import { checkUnitsSee } from '../unit-sight.js';
import { type Manner, serveUnitName, startControlPlane, waitUntilReady } from './control-plane.js';
import type { InitDatabase } from './init-database.js';
import type { InitSettings } from './init-settings.js';
import { writeNodeKubeconfig } from './node-kubeconfig.js';
import { certificateFolder, serverCommands } from './server-commands.js';

/** How servers are run on this machine. */
export function mannerOf(options: { readonly foreground: boolean; readonly staticPods: string | undefined }): Manner {
  if (options.staticPods !== undefined) return 'static-pods';
  return options.foreground || !isSystemdRunning() ? 'foreground' : 'systemd';
}

/** What starting the servers will do, as a line of a plan. */
export function startPlan(manner: Manner, staticPods: string | undefined): string {
  if (manner === 'systemd') return 'run plinth-serve.service and plinth-controllers.service';
  if (manner === 'foreground') return 'run the servers in this process';
  return `write manifests of the servers to ${staticPods}`;
}

/** @throws StartupError when servers can't run on this machine in that manner */
export async function checkMachine(manner: Manner, options: ControlPlaneOptions, made: MadeHere): Promise<void> {
  if (manner === 'systemd' && process.getuid?.() !== 0) {
    throw new StartupError('units of systemd need root: run this as root, or with --foreground');
  }
  // What only some flags or an embedded database need is checked again when the units are written.
  if (manner === 'systemd') await checkUnitsSee(programAnd([made.directory]), true);
  const { units } = await made.things();
  // Servers of an earlier run may still be running.
  const mayRun = manner === 'static-pods' || (manner === 'systemd' && units.length > 0);
  if (!mayRun) await checkPortFree(options.bindAddress, options.apiserverBindPort, '--apiserver-bind-port');
}

/** Makes the folder of certificates, unless it is there: then it stays when everything is removed. */
export async function makeCertificateFolder(made: MadeHere): Promise<string> {
  const directory = certificateFolder(made.directory);
  if ((await lstat(directory).catch(() => undefined)) === undefined) {
    await made.note('certificateFolders', directory);
    await made.folder(directory);
  }
  return directory;
}

export interface StepDependencies {
  readonly settings: InitSettings;
  readonly manner: Manner;
  readonly made: MadeHere;
  readonly logger: Logger;
  readonly context: CommandContext;
}

/** The steps that the first control plane and every further one go through. Each can be repeated. */
export class ControlPlaneSteps {
  /** The servers, if they run in this process. */
  servers: { readonly ended: Promise<void> } | undefined;
  private keys: { readonly pki: Pki; readonly tokenKey: string } | undefined;

  constructor(private readonly dependencies: StepDependencies) {}

  /** The certificates of this machine. */
  get pki(): Pki {
    if (this.keys === undefined) throw new Error('the certificates come first');
    return this.keys.pki;
  }

  /** The API of this machine as its administrator reaches it. */
  get access(): ApiAccess {
    const { servingAuthority: ca, admin } = this.pki;
    const own = { cert: admin.certificate, key: admin.privateKey };
    return fixedAccess(this.dependencies.settings.localServer, {
      ...{ ca, ...own },
      serverName: undefined,
      insecureSkipVerify: false,
    });
  }

  async certificates(): Promise<void> {
    const { settings, made } = this.dependencies;
    const { certificateNames, options } = settings;
    const directory = await makeCertificateFolder(made);
    const pki = await ensurePki({
      directory,
      bindAddress: options.init.bindAddress,
      serviceClusterIpRange: options.cluster.serviceClusterIpRange,
      names: certificateNames,
      clock: systemClock,
    });
    this.keys = { pki, tokenKey: await ensureServiceAccountKey(directory) };
  }

  async kubeconfig(): Promise<void> {
    const { settings, manner, made, logger } = this.dependencies;
    const { servingAuthority: authority, admin: client } = this.pki;
    const text = formatKubeconfig({ server: settings.server, authority, client });
    await keepFile(made.files, `${made.directory}/${adminKubeconfigName}`, text, logger);
    if (manner === 'static-pods') await writeNodeKubeconfig(settings.localServer, this.pki, made, logger);
  }

  /** Starts the servers and waits until the API of this machine is ready. */
  async start(database: InitDatabase): Promise<void> {
    const { settings, manner, made, logger, context } = this.dependencies;
    const commands = serverCommands(settings, this.pki, (this.keys as { readonly tokenKey: string }).tokenKey);
    const began = systemClock.now();
    this.servers = await startControlPlane({ settings, manner, commands, database, made, logger, context });
    const explanation = async () =>
      manner === 'systemd' ? new Systemd(made, logger).explanation(serveUnitName, began) : '';
    const ready = waitUntilReady(settings, this.pki.servingAuthority, context.signals.signal, explanation);
    await Promise.race([ready, ...(this.servers === undefined ? [] : [this.servers.ended])]);
  }
}
