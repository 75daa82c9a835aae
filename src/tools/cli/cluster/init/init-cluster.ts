import { lstat } from 'node:fs/promises';
import { systemClock } from '../../../../base/machinery/clock.js';
import { type Running, stopAll } from '../../../../base/machinery/lifecycle.js';
import { checkPortFree } from '../../../../base/machinery/port-check.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { fixedAccess } from '../../../../base/outgoing/api-access.js';
import { lockDirectory } from '../../../local-postgres/directory-lock.js';
import { publishClusterInfo } from '../../cluster-info.js';
import type { CommandContext } from '../../command.js';
import { formatKubeconfig } from '../../kubeconfig.js';
import { keepFile } from '../../own-files.js';
import { ensurePki, type Pki } from '../../pki/pki.js';
import { ensureServiceAccountKey } from '../../pki/service-account-key.js';
import { adminKubeconfigName } from '../admin-kubeconfig.js';
import { MadeHere } from '../made-here.js';
import { type Phase, runPhases } from '../phases.js';
import { isSystemdRunning } from '../systemd.js';
import { type Manner, startControlPlane, waitUntilReady } from './control-plane.js';
import { firstToken } from './first-token.js';
import { givenDatabase, type InitDatabase, prepareDatabase } from './init-database.js';
import type { InitSettings } from './init-settings.js';
import { certificateFolder, serverCommands } from './server-commands.js';

export interface InitDependencies {
  readonly settings: InitSettings;
  readonly logger: Logger;
  readonly context: CommandContext;
}

/** Results of phases that later phases use. */
interface State {
  made?: MadeHere;
  pki?: Pki;
  tokenKey?: string;
  database?: InitDatabase;
  servers?: { readonly ended: Promise<void> } | undefined;
}

/**
 * Sets up a control plane on this machine. Each phase keeps what is right already, so a run that was stopped anywhere,
 * or that is repeated, continues. In the foreground it returns when the servers have ended.
 *
 * @throws StartupError, OptionsError or MigrationError for problems that the user can solve
 */
export async function initCluster(dependencies: InitDependencies): Promise<void> {
  const { settings, context } = dependencies;
  const { init } = settings.options;
  const manner = mannerOf(settings);
  const started: Running[] = [];
  const state: State = {};
  try {
    if (!init.dryRun) {
      state.made = await MadeHere.open(settings.configDir);
      const lock = await lockDirectory(settings.configDir, '--config-dir');
      started.push({ stop: () => lock.release() });
    }
    const phases = new InitPhases(dependencies, manner, state, started);
    const { print, signals } = context;
    await runPhases(phases.all(), {
      skipped: init.skipPhases,
      dryRun: init.dryRun,
      signal: signals.signal,
      print,
    });
    if (state.servers !== undefined) await state.servers.ended;
  } finally {
    context.signals.abort();
    await Promise.allSettled([state.servers?.ended]);
    await stopAll(started);
  }
}

function mannerOf({ options }: InitSettings): Manner {
  const { foreground, staticPods } = options.init;
  if (staticPods !== undefined) return 'static-pods';
  return foreground || !isSystemdRunning() ? 'foreground' : 'systemd';
}

class InitPhases {
  constructor(
    private readonly dependencies: InitDependencies,
    private readonly manner: Manner,
    private readonly state: State,
    private readonly started: Running[],
  ) {}

  all(): readonly Phase[] {
    return [
      { name: 'preflight', plan: () => ['check this machine'], run: () => this.preflight() },
      {
        name: 'certs',
        plan: () => [`make the certificates that are missing in ${certificateFolder(this.settings.configDir)}`],
        run: () => this.certificates(),
      },
      {
        name: 'kubeconfig',
        plan: () => [`write ${this.settings.configDir}/${adminKubeconfigName} for ${this.settings.server}`],
        run: () => this.kubeconfig(),
      },
      {
        name: 'database',
        plan: () => ['bring the database to the schema of this program'],
        run: () => this.database(),
      },
      {
        name: 'cluster-info',
        plan: () => [`publish ${this.settings.server}, and what joining nodes look for`],
        run: () => this.publish(),
      },
      { name: 'control-plane', plan: () => [this.startPlan()], run: () => this.start() },
      { name: 'token', plan: () => ['see that there is a token with which nodes join'], run: () => this.token() },
    ];
  }

  private get settings(): InitSettings {
    return this.dependencies.settings;
  }

  private startPlan(): string {
    const { staticPods } = this.settings.options.init;
    if (this.manner === 'systemd') return 'run plinth-serve.service and plinth-controllers.service';
    if (this.manner === 'foreground') return 'run the servers in this process';
    return `write manifests of the servers to ${staticPods}`;
  }

  private async preflight(): Promise<void> {
    const { bindAddress, apiserverBindPort } = this.settings.options.init;
    if (this.manner === 'systemd' && process.getuid?.() !== 0) {
      throw new StartupError('units of systemd need root: run this as root, or with --foreground');
    }
    if (this.manner === 'static-pods' && (await givenDatabase(this.settings)) === undefined) {
      throw new StartupError('static pods need a --database-url: the embedded database runs in no container');
    }
    const { units } = await this.made.things();
    // Servers of an earlier run may still be running.
    const mayRun = this.manner === 'static-pods' || (this.manner === 'systemd' && units.length > 0);
    if (!mayRun) await checkPortFree(bindAddress, apiserverBindPort, '--apiserver-bind-port');
  }

  private async certificates(): Promise<void> {
    const { configDir, certificateNames, options } = this.settings;
    const directory = certificateFolder(configDir);
    // Certificates that existed before do not belong to this program.
    if ((await lstat(directory).catch(() => undefined)) === undefined) {
      await this.made.note('certificateFolders', directory);
      await this.made.folder(directory);
    }
    this.state.pki = await ensurePki({
      directory,
      bindAddress: options.init.bindAddress,
      serviceClusterIpRange: options.cluster.serviceClusterIpRange,
      names: certificateNames,
      clock: systemClock,
    });
    this.state.tokenKey = await ensureServiceAccountKey(directory);
  }

  private async kubeconfig(): Promise<void> {
    const { servingAuthority: authority, admin: client } = this.pki;
    const text = formatKubeconfig({ server: this.settings.server, authority, client });
    const path = `${this.made.directory}/${adminKubeconfigName}`;
    await keepFile(this.made.files, path, text, this.dependencies.logger);
  }

  private async database(): Promise<void> {
    this.state.database = await prepareDatabase({
      settings: this.settings,
      made: this.made,
      logger: this.dependencies.logger,
      signal: this.dependencies.context.signals.signal,
      started: this.started,
      usesSystemd: this.manner === 'systemd',
    });
  }

  private async publish(): Promise<void> {
    const { options, server, endpoint } = this.settings;
    const { storage, cluster, init } = options;
    const { databaseUrl } = await this.usedDatabase();
    await publishClusterInfo(
      { storage: { ...storage, databaseUrl }, cluster },
      { server, authority: this.pki.servingAuthority },
      this.dependencies.logger,
      {
        grantsNodeAgents: true,
        joining: {
          endpoint,
          serviceRange: cluster.serviceClusterIpRange,
          podRange: init.podNetworkCidr,
          cgroupDriver: init.cgroupDriver,
        },
      },
    );
  }

  private async start(): Promise<void> {
    const { settings, manner, dependencies } = this;
    const { logger, context } = dependencies;
    const commands = serverCommands(settings, this.pki, this.state.tokenKey as string);
    const database = await this.usedDatabase();
    const made = this.made;
    this.state.servers = await startControlPlane({ settings, manner, commands, database, made, logger, context });
    const ready = waitUntilReady(settings, this.pki.servingAuthority, context.signals.signal);
    await Promise.race([ready, ...(this.state.servers === undefined ? [] : [this.state.servers.ended])]);
  }

  private async token(): Promise<void> {
    const { print, signals } = this.dependencies.context;
    const { servingAuthority: ca, admin } = this.pki;
    const tls = {
      ca,
      cert: admin.certificate,
      key: admin.privateKey,
      serverName: undefined,
      insecureSkipVerify: false,
    };
    const access = fixedAccess(this.settings.localServer, tls);
    const joining = await firstToken(access, this.settings.options.init.tokenTtlMs, signals.signal);
    print('');
    print(`The cluster is ready at ${this.settings.server}. Its administrator uses it so:`);
    print(`  export KUBECONFIG=${this.made.directory}/${adminKubeconfigName}`);
    print('A machine with a container runtime joins it, as root, by one of:');
    print(`  plinth join ${joining}`);
    if (this.settings.options.cluster.compat === 'kubernetes') print(`  kubeadm join ${joining}`);
  }

  private get made(): MadeHere {
    return this.state.made as MadeHere;
  }

  private get pki(): Pki {
    return this.state.pki as Pki;
  }

  /** The value that the phase made, or if the phase is skipped the one that the user gave. */
  private async usedDatabase(): Promise<InitDatabase> {
    const database = this.state.database ?? (await givenDatabase(this.settings));
    if (database === undefined) throw new StartupError('without the phase database a --database-url is needed');
    return database;
  }
}
