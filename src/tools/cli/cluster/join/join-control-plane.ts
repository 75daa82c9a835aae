import { join } from 'node:path';
import { InitOptions } from '../../../../base/config/init.options.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ApiUser } from '../../../../nodes/connection/api-connection.js';
import { lockDirectory } from '../../../local-postgres/directory-lock.js';
import { adminKubeconfigName } from '../admin-kubeconfig.js';
import { CertificateKey } from '../control-plane/certificate-key.js';
import { checkDatabase, type ShownObject } from '../control-plane/check-database.js';
import { type ClusterSettings, readClusterSettings } from '../control-plane/cluster-settings.js';
import { downloadSharedFiles, hasSharedFiles, writeSharedFiles } from '../control-plane/download-shared-files.js';
import { sharedFilesSecret } from '../control-plane/shared-files.js';
import {
  ControlPlaneSteps,
  checkMachine,
  makeCertificateFolder,
  mannerOf,
  startPlan,
} from '../init/control-plane-steps.js';
import { givenDatabase, type InitDatabase, keepDatabase } from '../init/init-database.js';
import { type InitSettings, initSettings } from '../init/init-settings.js';
import { certificateFolder } from '../init/server-commands.js';
import { MadeHere } from '../made-here.js';
import { type Phase, runPhases } from '../phases.js';
import { askCluster, type FoundCluster, findCluster, namesOf, pinsOf } from './find-cluster.js';
import type { JoinDependencies } from './join-cluster.js';
import type { ControlPlaneRequest } from './join-request.js';

export interface JoinControlPlaneDependencies extends JoinDependencies {
  readonly controlPlane: ControlPlaneRequest;
}

/**
 * Adds the servers of a control plane on this machine: finds and verifies the cluster, gets its authorities, makes
 * certificates of its own, checks that the database is that of the cluster, and starts the servers. A run that was
 * stopped anywhere, or that is repeated, continues where it stopped. In the foreground it returns when the servers have
 * ended.
 *
 * @throws StartupError for what can't work, or can't be trusted
 */
export async function joinControlPlane(dependencies: JoinControlPlaneDependencies): Promise<void> {
  const { request, directory, context } = dependencies;
  const { dryRun } = request.options;
  const running = { skipped: [], dryRun, signal: context.signals.signal, print: context.print };
  if (dryRun) {
    await runPhases(new ControlPlanePhases(dependencies, undefined).all(), running);
    return;
  }
  const made = await MadeHere.open(directory);
  const lock = await lockDirectory(made.directory, '--config-dir');
  const phases = new ControlPlanePhases(dependencies, made);
  try {
    await runPhases(phases.all(), running);
    await phases.steps?.servers?.ended;
  } finally {
    context.signals.abort();
    await Promise.allSettled([phases.steps?.servers?.ended]);
    await lock.release();
  }
}

class ControlPlanePhases {
  steps: ControlPlaneSteps | undefined;
  private found: FoundCluster | undefined;
  private settings: InitSettings | undefined;
  private database: InitDatabase | undefined;
  /** What the API has returned and the database must contain. */
  private readonly shown: ShownObject[] = [];

  constructor(
    private readonly dependencies: JoinControlPlaneDependencies,
    private readonly place: MadeHere | undefined,
  ) {}

  all(): readonly Phase[] {
    const { directory, request, controlPlane } = this.dependencies;
    const { discovery } = request;
    const where = 'file' in discovery ? discovery.file : `${discovery.endpoint.host}:${discovery.endpoint.port}`;
    const folder = certificateFolder(directory);
    const start = startPlan(this.manner, controlPlane.options.staticPods);
    return [
      { name: 'preflight', plan: () => ['check this machine'], run: () => this.preflight() },
      { name: 'discovery', plan: () => [`find and verify the cluster by ${where}`], run: () => this.discover() },
      {
        name: 'download-certs',
        plan: () => [`get the settings and the authorities of the cluster, into ${folder}`],
        run: () => this.download(),
      },
      {
        name: 'certs',
        plan: () => [`make the certificates of this machine in ${folder}`],
        run: async () => this.steps?.certificates(),
      },
      {
        name: 'kubeconfig',
        plan: () => [`write ${join(directory, adminKubeconfigName)}`],
        run: async () => this.steps?.kubeconfig(),
      },
      { name: 'database', plan: () => ['check that the database is that of the cluster'], run: () => this.check() },
      { name: 'control-plane', plan: () => [start], run: () => this.start() },
    ];
  }

  private get manner() {
    const { request, controlPlane } = this.dependencies;
    return mannerOf({ foreground: request.options.foreground, staticPods: controlPlane.options.staticPods });
  }

  private get made(): MadeHere {
    return this.place as MadeHere;
  }

  private get signal(): AbortSignal {
    return this.dependencies.context.signals.signal;
  }

  private preflight(): Promise<void> {
    return checkMachine(this.manner, this.dependencies.controlPlane.options, this.made);
  }

  private async discover(): Promise<void> {
    const { request, context } = this.dependencies;
    this.found = await findCluster(request, join(this.made.directory, adminKubeconfigName), context.print, this.signal);
  }

  private async download(): Promise<void> {
    const found = this.found as FoundCluster;
    await askCluster(found, async (api) => {
      const names = await namesOf(found, api, this.signal);
      const path = `/api/v1/namespaces/${names.systemNamespace}/configmaps/kubeadm-config`;
      const map = await api.send<{
        readonly metadata: { readonly uid: string };
        readonly data?: Readonly<Record<string, string>>;
      }>('GET', path, { signal: this.signal });
      this.shown.push({ resource: 'configmaps', name: 'kubeadm-config', uid: map.metadata.uid });
      await this.useSettings(readClusterSettings(map.data ?? {}, names));
      await this.getSharedFiles(api, names);
    });
  }

  private async getSharedFiles(api: ApiUser, names: VendorNames): Promise<void> {
    const pins = pinsOf(this.found as FoundCluster);
    const directory = await makeCertificateFolder(this.made);
    // A run before has got them, and they may be gone from the API by now.
    if (await hasSharedFiles(directory, pins)) return;
    const { certificateKey } = this.dependencies.controlPlane.options;
    if (certificateKey === undefined) {
      throw new StartupError(
        `needs --certificate-key, which plinth certs upload prints on a control plane (or its authorities in ${directory})`,
      );
    }
    const { uid, texts } = await downloadSharedFiles(api, names, CertificateKey.parse(certificateKey), this.signal);
    this.shown.push({ resource: 'secrets', name: sharedFilesSecret, uid });
    await writeSharedFiles(directory, texts, pins);
  }

  private async useSettings({ cluster, given, endpoint, podRange, certificateNames }: ClusterSettings): Promise<void> {
    const { request, directory, controlPlane, logger, context } = this.dependencies;
    const { options, storage, logging } = controlPlane;
    const sans = [...certificateNames, ...options.apiserverCertExtraSans];
    const init: InitOptions = Object.assign(new InitOptions(), options, {
      configDir: directory,
      controlPlaneEndpoint: endpoint,
      podNetworkCidr: podRange,
      apiserverCertExtraSans: sans,
      timeoutMs: request.options.timeoutMs,
    });
    const settings = await initSettings(
      { init, storage, cluster, logging },
      new Set([...controlPlane.given, ...given]),
    );
    const { manner, made } = this;
    this.settings = settings;
    this.steps = new ControlPlaneSteps({ settings, manner, made, logger, context });
  }

  private async check(): Promise<void> {
    const { logger } = this.dependencies;
    const settings = this.settings as InitSettings;
    const database = await givenDatabase(settings);
    if (database === undefined) throw new StartupError('needs the --database-url of the other control planes');
    const { storage, cluster } = settings.options;
    await checkDatabase({ storage: { ...storage, databaseUrl: database.databaseUrl }, cluster }, this.shown, logger);
    await keepDatabase(settings, this.made, database);
    this.database = database;
  }

  private async start(): Promise<void> {
    await this.steps?.start(this.database as InitDatabase);
    const { print } = this.dependencies.context;
    print(
      `The servers of this machine are ready at ${(this.settings as InitSettings).localServer}. Its administrator uses it so:`,
    );
    print(`  export KUBECONFIG=${join(this.made.directory, adminKubeconfigName)}`);
  }
}
