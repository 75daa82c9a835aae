import { promises as fs } from 'node:fs';
import { decode } from '../../base/machinery/schema/index.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import { type Pod, pod as podType } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { watchPods } from '../connection/pod-watch.js';
import type { AgentOptions } from './agent-options.js';
import { ApiObjects } from './api-objects.js';
import { Cgroups } from './containers/cgroups.js';
import { ContainerStarter } from './containers/container-starter.js';
import { readResolvConf } from './containers/host-files.js';
import type { ContainerRuntime } from './cri/container-runtime.js';
import { AgentEvents } from './events.js';
import { isRefusedUnder } from './housekeeping/eviction.js';
import { Housekeeper } from './housekeeping/housekeeper.js';
import { ImagePuller } from './images/image-puller.js';
import type { CertificatePair } from './node/node-certificates.js';
import { NodeDescription } from './node/node-description.js';
import { NodeReporter } from './node/node-reporter.js';
import type { NodeSettings } from './node-settings.js';
import { PodFolders } from './pod-folders.js';
import { PodManager } from './pod-manager.js';
import { PodTokens } from './pod-tokens.js';
import { BackOff } from './pods/back-off.js';
import { RuntimeView } from './pods/runtime-view.js';
import { ProbeCounts } from './probes/probe-counts.js';
import { RuntimeHealth } from './runtime-health.js';
import { AgentServer } from './server/agent-server.js';
import { AgentAuthentication } from './server/authentication.js';
import { AgentAuthorization } from './server/authorization.js';
import { HealthServer } from './server/health-server.js';
import { ServiceWatch } from './service-watch.js';
import { endPods, type ShutdownTimes } from './shutdown.js';
import { MirrorPods } from './sources/mirror-pods.js';
import { StaticPods } from './sources/static-pods.js';
import { preparePodVolumes } from './volumes/pod-volumes.js';

export interface AgentDependencies {
  readonly options: AgentOptions;
  readonly runtime: ContainerRuntime;
  /** Undefined: there is no API, only static pods. */
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers?: Timers;
  readonly random?: () => number;
}

const firstBackOffMs = 10_000;
const longestBackOffMs = 300_000;
const userAgent = 'kube-probe/1.37';

/** The agent of one node. */
export class NodeAgent {
  readonly manager: PodManager;
  readonly health: RuntimeHealth;
  readonly folders: PodFolders;
  readonly description: NodeDescription;
  readonly view: RuntimeView;
  private readonly probeCounts = new ProbeCounts();
  private readonly reporter: NodeReporter;
  private readonly services: ServiceWatch;
  private readonly mirrors: MirrorPods;
  private readonly statics: StaticPods;
  private readonly housekeeper: Housekeeper;
  private server: AgentServer | undefined;
  private healthServer: HealthServer | undefined;
  private readonly stopping = new AbortController();
  private readonly timers: Timers;
  private work: Promise<unknown> = Promise.resolve();
  private podCidr = '';
  private isListed = false;

  private constructor(
    private readonly parts: AgentDependencies,
    cgroups: Cgroups,
    description: NodeDescription,
  ) {
    const { options, runtime, api, names, logger, timers = systemTimers, random = Math.random } = parts;
    const { signal } = this.stopping;
    this.timers = timers;
    this.description = description;
    this.health = new RuntimeHealth(runtime);
    this.view = new RuntimeView(runtime);
    this.folders = new PodFolders(options.rootFolder, options.logFolder);
    this.services = new ServiceWatch({ api, timers, random, logger });
    const events = new AgentEvents({
      ...{ api, timers, signal },
      component: 'kubelet',
      node: options.nodeName,
      perSecond: options.eventQps,
      burst: options.eventBurst,
    });
    const objects = new ApiObjects(api, names, timers, signal);
    const tokens = new PodTokens(api, timers, signal);
    const settings = this.settingsOf();
    const images = new ImagePuller(runtime, objects, timers, options.serializesPulls);
    const { folders, view } = this;
    const starter = new ContainerStarter({
      ...{ runtime, images, objects, settings, folders, timers, userAgent },
      servicesOf: (pod) => this.services.environmentOf(pod),
    });
    this.manager = new PodManager({
      ...{ view, timers, logger },
      shared: {
        ...{
          api,
          runtime,
          view,
          starter,
          images,
          folders,
          settings,
          cgroups,
          events,
          timers,
          logger,
          userAgent,
          signal,
        },
        backOff: new BackOff(firstBackOffMs, longestBackOffMs),
        prober: { runtime, timers, random, userAgent, counts: this.probeCounts },
        prepareVolumes: (pod, podIPs) =>
          preparePodVolumes({
            ...{ pod, podIPs, objects, folders },
            hostIPs: settings.hostIPs(),
            allocatable: settings.allocatable(),
            token: (audience, seconds) => tokens.token(pod, audience, seconds),
            trustBundle: (source) => objects.trustBundle(source),
            resolveClaim: (owner, claim) => objects.resolveClaim(owner, claim),
          }),
        runtimeName: () => this.health.name,
        handlerOf: (pod) => objects.handlerOf(pod),
      },
      node: () => {
        const node = this.reporter.present;
        return (
          node && {
            labels: node.metadata.labels ?? {},
            taints: node.spec?.taints ?? [],
            allocatable: settings.allocatable(),
          }
        );
      },
      // The watch of mirrors says so, too.
      onMirrorGone: () => undefined,
      refusal: (pod) =>
        this.description.isShuttingDown
          ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
          : isRefusedUnder(this.description.pressures, pod)
            ? {
                reason: 'Evicted',
                message: `The node had condition: [${[...this.description.pressures].join(', ')}]. `,
              }
            : undefined,
      onDone: (uid) => {
        tokens.forget(uid);
        this.probeCounts.forget(uid);
      },
      onRuntime: (error) => this.health.listed(error),
    });
    this.reporter = new NodeReporter({
      ...{ api, names, events, timers, logger },
      nodeName: options.nodeName,
      labels: { ...description.labels(names), ...options.labels },
      taints: options.taints,
      registers: options.registersNode,
      unschedulable: options.unschedulable,
      leaseMs: options.leaseMs,
      lookMs: options.statusLookMs,
      reportMs: options.statusReportMs,
      state: async () => {
        await this.health.look(timers.elapsed());
        return description.state(this.health);
      },
      onNode: (node) => this.takeNode(node),
    });
    const workerOf = (uid: string) => this.manager.worker(uid);
    this.mirrors = new MirrorPods({
      ...{ api, timers, logger, workerOf },
      prefix: names.labelPrefix,
      node: () => this.reporter.present,
    });
    this.statics = new StaticPods({
      ...{ timers, logger, names },
      options: options.sources,
      nodeName: options.nodeName,
      submissionFolder: `${options.rootFolder}/submitted-pods`,
      want: (pod) => this.manager.want(pod, true),
      drop: (uid) => this.manager.drop(uid),
      onPods: (pods) => {
        this.mirrors.want(pods);
        this.completeSources();
      },
    });
    const { housekeeping } = options;
    this.housekeeper = new Housekeeper({
      ...{ runtime, view, events, timers, logger },
      manager: this.manager,
      nodeName: options.nodeName,
      rootFolder: options.rootFolder,
      logFolder: options.logFolder,
      images: {
        highPercent: housekeeping.imageHighPercent,
        lowPercent: housekeeping.imageLowPercent,
        youngestMs: housekeeping.imageYoungestMs,
      },
      logMaxBytes: housekeeping.logMaxBytes,
      logMaxFiles: housekeeping.logMaxFiles,
      thresholds: housekeeping.thresholds,
      mostGraceSeconds: housekeeping.mostGraceSeconds,
      folders: this.folders,
      transitionMs: housekeeping.transitionMs,
      memoryBytes: description.machine.memoryBytes,
      onPressures: (pressures) => {
        const isChanged = [...pressures].sort().join() !== [...this.description.pressures].sort().join();
        this.description.pressures = pressures;
        if (isChanged) this.reporter.changed();
      },
    });
  }

  /** Why the agent is not healthy; undefined if it is. */
  get healthProblem(): string | undefined {
    return this.manager.lookedAtMs > 180_000 ? 'the runtime was not looked at for three minutes' : undefined;
  }

  /** Prepares folders and cgroups. Does not wait for the runtime or the API. */
  static async create(parts: AgentDependencies): Promise<NodeAgent> {
    const { options } = parts;
    await fs.mkdir(options.rootFolder, { recursive: true, mode: 0o750 });
    await fs.mkdir(options.logFolder, { recursive: true, mode: 0o755 });
    const cgroups = await Cgroups.find();
    await cgroups.prepare(podsCgroup(options));
    return new NodeAgent(parts, cgroups, await NodeDescription.read(options));
  }

  /** Begins to work. @param registered called when the API has the node. @throws Error for a port that is taken */
  async start(registered: () => void): Promise<void> {
    const { signal } = this.stopping;
    await this.startServers();
    await this.statics.start();
    this.work = Promise.all([
      this.health.look(this.timers.elapsed()).then(() => this.manager.run(signal)),
      this.reporter.run(signal, registered),
      this.services.run(signal),
      this.followPods(signal),
      this.statics.run(signal),
      this.mirrors.run(signal),
      this.housekeeper.run(signal),
    ]);
  }

  private async startServers(): Promise<void> {
    const { options, api, names, runtime, logger } = this.parts;
    const { timers, manager, view } = this;
    const healthProblem = () => this.healthProblem;
    if (options.healthz !== undefined) {
      this.healthServer = await HealthServer.start(options.healthz.address, options.healthz.port, healthProblem);
    }
    const { server } = options;
    if (server === undefined) return;
    this.server = await AgentServer.start({
      ...{ runtime, manager, view, timers, logger, healthProblem },
      ...server,
      machine: this.description.machine,
      probeCounts: this.probeCounts,
      port: options.port,
      nodeName: options.nodeName,
      rootFolder: options.rootFolder,
      logFolder: options.logFolder,
      authentication: new AgentAuthentication(api, names, server.authentication, timers),
      authorization: new AgentAuthorization(api, names, options.nodeName, server.authorization, timers),
    });
  }

  /** Shows another certificate from now on. */
  useServingCertificate(pair: CertificatePair): void {
    this.server?.useCertificate(pair);
  }

  /** Ends all pods because the machine shuts down. No others are taken, and the node says so. */
  async shutDown(times: ShutdownTimes): Promise<void> {
    this.description.isShuttingDown = true;
    this.reporter.changed();
    await endPods(this.manager, times, this.timers);
  }

  /** Containers run on. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([this.server?.stop(), this.healthServer?.stop(), this.statics.stop()]);
    await this.work;
  }

  private settingsOf(): NodeSettings {
    const { options } = this.parts;
    return {
      nodeName: options.nodeName,
      clusterDns: options.clusterDns,
      clusterDomain: options.clusterDomain,
      cfsQuota: options.cfsQuota,
      cfsQuotaPeriodMs: options.cfsQuotaPeriodMs,
      memoryCapacity: this.description.machine.memoryBytes,
      podsCgroup: podsCgroup(options),
      hostIPs: () => this.description.addresses,
      resolvConf: async () =>
        options.resolvConf === ''
          ? { servers: [], searches: [], options: [] }
          : readResolvConf(await fs.readFile(options.resolvConf, 'utf8').catch(() => '')),
      allocatable: () => this.description.allocatable,
    };
  }

  /** When every source has been read, what none of them wants may end. */
  private completeSources(): void {
    if (this.isListed && this.statics.isComplete) this.manager.complete();
  }

  private takeNode(node: Node): void {
    const podCidr = node.spec?.podCIDR || this.parts.options.podCidr;
    if (podCidr === '' || podCidr === this.podCidr) return;
    this.podCidr = podCidr;
    this.parts.runtime.setPodCidr(podCidr).catch(() => {
      this.podCidr = '';
    });
  }

  private async followPods(signal: AbortSignal): Promise<void> {
    const { api, logger, options, random = Math.random } = this.parts;
    const own = new Set<string>();
    await watchPods(
      {
        ...{ api, logger, random },
        timers: this.timers,
        node: options.nodeName,
        known: () => own,
        onPod: (object) => {
          const pod = readPod(object);
          const uid = pod?.metadata.uid;
          if (pod === undefined || uid === undefined) return;
          own.add(uid);
          if (this.mirrors.isMirror(pod)) this.mirrors.seen(pod);
          else this.manager.want(pod);
        },
        onGone: (uid) => {
          own.delete(uid);
          this.mirrors.gone(uid);
          this.manager.drop(uid);
        },
        onListed: () => {
          this.mirrors.listed();
          this.isListed = true;
          this.completeSources();
        },
      },
      signal,
    );
  }
}

function podsCgroup({ cgroupRoot }: AgentOptions): string {
  return `${cgroupRoot.replace(/\/$/, '')}/kubepods`;
}

/** In canonical form; undefined for an object that is no pod. */
function readPod(object: unknown): Pod | undefined {
  try {
    return decode(podType, object).value;
  } catch {
    return undefined;
  }
}
