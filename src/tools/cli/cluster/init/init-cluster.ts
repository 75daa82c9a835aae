import { type Running, stopAll } from '../../../../base/machinery/lifecycle.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { lockDirectory } from '../../../local-postgres/directory-lock.js';
import { publishClusterInfo } from '../../cluster-info.js';
import type { CommandContext } from '../../command.js';
import { withAdminApi } from '../admin-api.js';
import { adminKubeconfigName } from '../admin-kubeconfig.js';
import { CertificateKey } from '../control-plane/certificate-key.js';
import { controlPlaneFlagLines } from '../control-plane/cluster-settings.js';
import { uploadSharedFiles } from '../control-plane/upload-shared-files.js';
import { MadeHere } from '../made-here.js';
import { type Phase, runPhases } from '../phases.js';
import type { Manner } from './control-plane.js';
import { ControlPlaneSteps, checkMachine, mannerOf, startPlan } from './control-plane-steps.js';
import { firstToken } from './first-token.js';
import { givenDatabase, type InitDatabase, prepareDatabase } from './init-database.js';
import type { InitSettings } from './init-settings.js';
import { certificateFolder } from './server-commands.js';

export interface InitDependencies {
  readonly settings: InitSettings;
  readonly logger: Logger;
  readonly context: CommandContext;
}

/** Results of phases that later phases use. */
interface State {
  made?: MadeHere;
  steps?: ControlPlaneSteps;
  database?: InitDatabase;
  certificateKey?: CertificateKey;
}

/**
 * Sets up a control plane on this machine. Each phase keeps what is right already, so a run that was stopped anywhere,
 * or that is repeated, continues. In the foreground it returns when the servers have ended.
 *
 * @throws StartupError, OptionsError or MigrationError for problems that the user can solve
 */
export async function initCluster(dependencies: InitDependencies): Promise<void> {
  const { settings, context, logger } = dependencies;
  const { init } = settings.options;
  const manner = mannerOf(init);
  const started: Running[] = [];
  const state: State = {};
  try {
    if (!init.dryRun) {
      state.made = await MadeHere.open(settings.configDir);
      const lock = await lockDirectory(settings.configDir, '--config-dir');
      started.push({ stop: () => lock.release() });
      state.steps = new ControlPlaneSteps({ settings, manner, made: state.made, logger, context });
    }
    const phases = new InitPhases(dependencies, manner, state, started);
    const { print, signals } = context;
    await runPhases(phases.all(), {
      skipped: init.skipPhases,
      dryRun: init.dryRun,
      signal: signals.signal,
      print,
    });
    await state.steps?.servers?.ended;
  } finally {
    context.signals.abort();
    await Promise.allSettled([state.steps?.servers?.ended]);
    await stopAll(started);
  }
}

class InitPhases {
  constructor(
    private readonly dependencies: InitDependencies,
    private readonly manner: Manner,
    private readonly state: State,
    private readonly started: Running[],
  ) {}

  all(): readonly Phase[] {
    const { configDir, server, options } = this.settings;
    const upload: Phase = {
      name: 'upload-certs',
      plan: () => ['hand over the authorities to further control planes, encrypted, for two hours'],
      run: () => this.upload(),
    };
    return [
      { name: 'preflight', plan: () => ['check this machine'], run: () => this.preflight() },
      {
        name: 'certs',
        plan: () => [`make the certificates that are missing in ${certificateFolder(configDir)}`],
        run: () => this.steps.certificates(),
      },
      {
        name: 'kubeconfig',
        plan: () => [`write ${configDir}/${adminKubeconfigName} for ${server}`],
        run: () => this.steps.kubeconfig(),
      },
      {
        name: 'database',
        plan: () => ['bring the database to the schema of this program'],
        run: () => this.database(),
      },
      {
        name: 'cluster-info',
        plan: () => [`publish ${server}, and what joining nodes look for`],
        run: () => this.publish(),
      },
      {
        name: 'control-plane',
        plan: () => [startPlan(this.manner, options.init.staticPods)],
        run: async () => this.steps.start(await this.usedDatabase()),
      },
      ...(options.init.uploadCerts ? [upload] : []),
      { name: 'token', plan: () => ['see that there is a token with which nodes join'], run: () => this.token() },
    ];
  }

  private get settings(): InitSettings {
    return this.dependencies.settings;
  }

  private async preflight(): Promise<void> {
    const { init } = this.settings.options;
    const hasDatabase = (await givenDatabase(this.settings)) !== undefined;
    if (this.manner === 'static-pods' && !hasDatabase) {
      throw new StartupError('static pods need a --database-url: the embedded database runs in no container');
    }
    if (init.uploadCerts && !hasDatabase) {
      throw new StartupError(
        'further control planes need a --database-url: no other machine reaches the embedded database',
      );
    }
    await checkMachine(this.manner, init, this.made);
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
    const { options, server, endpoint, clusterFlags } = this.settings;
    const { storage, cluster, init } = options;
    const { databaseUrl } = await this.usedDatabase();
    await publishClusterInfo(
      { storage: { ...storage, databaseUrl }, cluster },
      { server, authority: this.steps.pki.servingAuthority },
      this.dependencies.logger,
      {
        grantsNodeAgents: true,
        joining: {
          endpoint,
          serviceRange: cluster.serviceClusterIpRange,
          podRange: init.podNetworkCidr,
          cgroupDriver: init.cgroupDriver,
          certificateNames: init.apiserverCertExtraSans,
          flags: controlPlaneFlagLines(clusterFlags),
        },
      },
    );
  }

  private async upload(): Promise<void> {
    const { certificateKey } = this.settings.options.init;
    const key = certificateKey === undefined ? CertificateKey.generate() : CertificateKey.parse(certificateKey);
    await withAdminApi(this.steps.access, 'plinth-init', this.dependencies.context.signals.signal, (admin) =>
      uploadSharedFiles(admin, certificateFolder(this.settings.configDir), key),
    );
    this.state.certificateKey = key;
  }

  private async token(): Promise<void> {
    const { print, signals } = this.dependencies.context;
    const joining = await firstToken(this.steps.access, this.settings.options.init.tokenTtlMs, signals.signal);
    print('');
    print(`The cluster is ready at ${this.settings.server}. Its administrator uses it so:`);
    print(`  export KUBECONFIG=${this.made.directory}/${adminKubeconfigName}`);
    print('A machine with a container runtime joins it, as root, by one of:');
    print(`  plinth join ${joining}`);
    if (this.settings.options.cluster.compat === 'kubernetes') print(`  kubeadm join ${joining}`);
    const { certificateKey } = this.state;
    if (certificateKey === undefined) return;
    print('A machine that reaches the database becomes a further control plane, within two hours, by:');
    print(`  plinth join ${joining} --control-plane --certificate-key ${certificateKey} --database-url URL`);
    print('The key opens the authorities of the cluster: keep it as secret as them.');
  }

  private get made(): MadeHere {
    return this.state.made as MadeHere;
  }

  private get steps(): ControlPlaneSteps {
    return this.state.steps as ControlPlaneSteps;
  }

  /** The value that the phase made, or if the phase is skipped the one that the user gave. */
  private async usedDatabase(): Promise<InitDatabase> {
    const database = this.state.database ?? (await givenDatabase(this.settings));
    if (database === undefined) throw new StartupError('without the phase database a --database-url is needed');
    return database;
  }
}
