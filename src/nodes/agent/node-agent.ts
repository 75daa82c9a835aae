import { promises as fs } from 'node:fs';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { AgentEvents } from './agent-events.js';
import type { AgentOptions } from './agent-options.js';
import { ApiObjects } from './api-objects.js';
import { Cgroups } from './containers/cgroups.js';
import { ContainerStarter } from './containers/container-starter.js';
import { refuseUserNamespace } from './containers/user-namespace.js';
import type { CpuManager } from './cpus/cpu-manager.js';
import { CpuReconciler } from './cpus/cpu-reconciler.js';
import { openCpuManager } from './cpus/open-cpu-manager.js';
import type { ContainerRuntime } from './cri/container-runtime.js';
import { Csi } from './csi/csi.js';
import { DeviceManager } from './devices/device-manager.js';
import { DeviceRegistration } from './devices/device-registration.js';
import { DeviceStore } from './devices/device-store.js';
import { isRefusedUnder } from './housekeeping/eviction.js';
import { Housekeeper } from './housekeeping/housekeeper.js';
import { ImagePuller } from './images/image-puller.js';
import { LostNetworks } from './network/lost-networks.js';
import { MachineNetworks } from './network/machine-networks.js';
import { PodNetwork } from './network/pod-network.js';
import { SenderGuard } from './network/sender-guard.js';
import type { CertificatePair } from './node/node-certificates.js';
import { NodeDescription } from './node/node-description.js';
import { NodeReporter } from './node/node-reporter.js';
import { podsCgroup, settingsOf } from './node/settings-of.js';
import { PodCertificates } from './pod-certificates.js';
import { PodFolders } from './pod-folders.js';
import { PodManager } from './pod-manager.js';
import { PodTokens } from './pod-tokens.js';
import { BackOff } from './pods/back-off.js';
import type { PodEnd } from './pods/pod-end.js';
import { podUid } from './pods/pod-form.js';
import { RuntimeView } from './pods/runtime-view.js';
import { ProbeCounts } from './probes/probe-counts.js';
import { RuntimeHealth } from './runtime-health.js';
import { AgentServers } from './server/agent-servers.js';
import { ServiceWatch } from './service-watch.js';
import { endPods } from './shutdown/end-pods.js';
import type { ShutdownGroup } from './shutdown/shutdown-groups.js';
import { ShutdownRecord } from './shutdown/shutdown-record.js';
import { followApiPods } from './sources/api-pods.js';
import { MirrorPods } from './sources/mirror-pods.js';
import { StaticPods } from './sources/static-pods.js';
import { preparePodVolumes } from './volumes/pod-volumes.js';

export interface AgentDependencies {
  readonly options: AgentOptions;
  readonly runtime: ContainerRuntime;
  /** Undefined: the agent has no API and runs only static pods. */
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers?: Timers;
  readonly random?: () => number;
}

const firstBackOffMs = 10_000;
const longestBackOffMs = 300_000;
/** The agent's name in `User-Agent` when it probes containers and calls their hooks. */
const probeAgent = 'kube-probe/1.37';
const userAgent = 'kube-lifecycle/1.37';

/** The dependencies of the pod manager, besides those that every part of the agent has. */
interface ManagerDependencies {
  readonly cgroups: Cgroups;
  readonly cpus: CpuManager | undefined;
  readonly events: AgentEvents;
  readonly objects: ApiObjects;
  readonly tokens: PodTokens;
  readonly certificates: PodCertificates;
  readonly settings: ReturnType<typeof settingsOf>;
  readonly images: ImagePuller;
  readonly starter: ContainerStarter;
  readonly random: () => number;
}

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
  private readonly csi: Csi;
  private readonly devices: DeviceManager;
  private readonly plugins: DeviceRegistration;
  private readonly reconciler: CpuReconciler | undefined;
  private readonly network: PodNetwork;
  private readonly senders: SenderGuard;
  private servers: AgentServers | undefined;
  private readonly stopping = new AbortController();
  private readonly timers: Timers;
  private work: Promise<unknown> = Promise.resolve();
  private isListed = false;
  private shuttingDown: Promise<void> | undefined;

  private constructor(
    private readonly dependencies: AgentDependencies,
    cgroups: Cgroups,
    description: NodeDescription,
    cpus: CpuManager | undefined,
    private readonly shutdowns: ShutdownRecord,
  ) {
    const { options, runtime, api, names, logger, timers = systemTimers, random = Math.random } = dependencies;
    const { signal } = this.stopping;
    this.timers = timers;
    this.description = description;
    this.health = new RuntimeHealth(runtime);
    this.network = new PodNetwork({
      ...{ options: options.network, podCidr: options.podCidr, runtime, logger },
      onConfigured: () => this.senders.changed(),
    });
    const { bridge, checksSenders: isOn } = options.network;
    this.senders = new SenderGuard({ network: this.network, bridge, isOn, timers: this.timers, logger });
    this.view = new RuntimeView(runtime, timers);
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
    const certificates = new PodCertificates({
      ...{ api, names, timers, random, signal },
      nodeName: options.nodeName,
      nodeUid: () => this.reporter.present?.metadata.uid,
    });
    const settings = settingsOf(options, description, cpus);
    const images = new ImagePuller(runtime, objects, timers, options.serializesPulls);
    this.csi = this.newCsi({ objects, tokens, events });
    this.devices = this.newDevices();
    const { devices, folders } = this;
    description.devices = devices;
    this.plugins = new DeviceRegistration({
      ...{ devices, timers, logger },
      folder: `${options.rootFolder}/device-plugins`,
    });
    const starter = new ContainerStarter({
      ...{ devices, runtime, images, objects, settings, folders, timers, userAgent },
      servicesOf: (pod) => this.services.environmentOf(pod),
    });
    this.manager = this.newManager({
      ...{ cgroups, cpus, events, objects, tokens, certificates },
      ...{ settings, images, starter, random },
    });
    this.reconciler =
      cpus &&
      new CpuReconciler({
        ...{ cpus, runtime, timers, logger },
        isActive: () => this.manager.activePods,
        periodMs: options.cpuManager.reconcileMs,
      });
    this.reporter = this.newReporter(events);
    this.mirrors = this.newMirrors();
    this.statics = this.newStatics();
    this.housekeeper = this.newHousekeeper(events);
  }

  private newCsi(given: Pick<ManagerDependencies, 'objects' | 'tokens' | 'events'>): Csi {
    const { options, api, names, logger } = this.dependencies;
    const { folders, timers } = this;
    return new Csi({
      ...given,
      ...{ api, names, folders, timers, logger },
      signal: this.stopping.signal,
      nodeName: options.nodeName,
      rootFolder: options.rootFolder,
      node: () => this.reporter.present,
    });
  }

  private newDevices(): DeviceManager {
    return new DeviceManager({
      store: new DeviceStore(`${this.dependencies.options.rootFolder}/devices.json`),
      isActive: () => this.manager.activePods,
      onChange: () => this.reporter.changed(),
    });
  }

  private newMirrors(): MirrorPods {
    const { api, names, logger } = this.dependencies;
    const { timers } = this;
    return new MirrorPods({
      ...{ api, timers, logger },
      workerOf: (uid) => this.manager.worker(uid),
      prefix: names.labelPrefix,
      node: () => this.reporter.present,
    });
  }

  private newManager({ cgroups, cpus, random, ...given }: ManagerDependencies): PodManager {
    const { runtime, api, logger } = this.dependencies;
    const { events, objects, tokens, certificates, settings, images, starter } = given;
    const { folders, view, devices, timers } = this;
    const { signal } = this.stopping;
    const { volumes } = this.csi;
    return new PodManager({
      ...{ view, timers, logger },
      shared: {
        ...{ api, runtime, view, starter, images, folders, settings, cgroups, events },
        ...{ timers, logger, userAgent, signal },
        backOff: new BackOff(firstBackOffMs, longestBackOffMs),
        prober: { runtime, timers, random, userAgent: probeAgent, counts: this.probeCounts, signal },
        prepareVolumes: (pod, podIPs) =>
          preparePodVolumes({
            ...{ pod, podIPs, objects, folders },
            hostIPs: settings.hostIPs(),
            allocatable: settings.allocatable(),
            token: (audience, seconds) => tokens.token(pod, audience, seconds),
            trustBundle: (source) => objects.trustBundle(source),
            certificate: (source) => certificates.credentials(pod, source),
            resolveClaim: (owner, claim, isOwn) => objects.resolveClaim(owner, claim, isOwn),
            publish: (volume) => volumes.publish(volume),
          }),
        prepareDevices: (pod) => devices.prepare(pod),
        releaseVolumes: (uid) => volumes.release(uid),
        runtimeName: () => this.health.name,
        handlerOf: async (pod) => {
          const handler = await objects.handlerOf(pod);
          refuseUserNamespace(pod, handler, this.health.status?.runtimeHandlers ?? []);
          return handler;
        },
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
      // The watch of mirror pods reports the removal, too.
      onMirrorGone: () => undefined,
      refusal: (pod) => refusalOf(this.description, pod),
      allocateCpus: (pod) => {
        const problem = cpus?.allocate(pod);
        if (cpus?.hasExclusive(podUid(pod))) this.reconciler?.changed();
        return problem;
      },
      onDone: (uid) => {
        tokens.forget(uid);
        certificates.forget(uid);
        this.probeCounts.forget(uid);
        this.csi.statistics.forget(uid);
      },
      onRuntime: (error) => this.health.listed(error),
    });
  }

  private newReporter(events: AgentEvents): NodeReporter {
    const { options, api, names, logger } = this.dependencies;
    const { description, timers } = this;
    return new NodeReporter({
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
  }

  private newStatics(): StaticPods {
    const { options, names, logger } = this.dependencies;
    const { timers } = this;
    return new StaticPods({
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
  }

  private newHousekeeper(events: AgentEvents): Housekeeper {
    const { options, runtime, logger } = this.dependencies;
    const { description, timers, view, network } = this;
    const { addressesFolder } = options.network;
    const machine = new MachineNetworks(options.network);
    return new Housekeeper({
      ...{ runtime, view, events, timers, logger },
      networks: new LostNetworks({ network, runtime, machine, addressesFolder, timers, logger }),
      manager: this.manager,
      nodeName: options.nodeName,
      rootFolder: options.rootFolder,
      logFolder: options.logFolder,
      settings: options.housekeeping,
      folders: this.folders,
      memoryBytes: description.machine.memoryBytes,
      onPressures: (pressures) => {
        const isChanged = [...pressures].sort().join() !== [...this.description.pressures].sort().join();
        this.description.pressures = pressures;
        if (isChanged) this.reporter.changed();
      },
    });
  }

  /** Why the agent is unhealthy; undefined if it is healthy. */
  get healthProblem(): string | undefined {
    return this.manager.lookedAtMs > 180_000 ? 'the runtime was not looked at for three minutes' : undefined;
  }

  /** Prepares folders and cgroups. Does not wait for the runtime or the API. */
  static async create(dependencies: AgentDependencies): Promise<NodeAgent> {
    const { options } = dependencies;
    await fs.mkdir(options.rootFolder, { recursive: true, mode: 0o750 });
    await fs.mkdir(options.logFolder, { recursive: true, mode: 0o755 });
    const cgroups = await Cgroups.find();
    await cgroups.prepare(podsCgroup(options));
    const description = await NodeDescription.read(options);
    const cpus = await openCpuManager(dependencies);
    const shutdowns = await ShutdownRecord.open(`${options.rootFolder}/graceful_node_shutdown_state`);
    return new NodeAgent(dependencies, cgroups, description, cpus, shutdowns);
  }

  /**
   * Starts the agent.
   * @param registered called when the API has the node
   * @throws Error for a port that is taken
   */
  async start(registered: () => void): Promise<void> {
    const { signal } = this.stopping;
    await this.csi.prepare();
    await this.devices.open();
    await this.plugins.start();
    this.servers = await this.startServers();
    await this.statics.start();
    this.work = Promise.all([
      this.health.look(this.timers.elapsed()).then(() => this.manager.run(signal)),
      this.reporter.run(signal, registered),
      this.services.run(signal),
      this.followPods(signal),
      this.csi.run(signal),
      this.statics.run(signal),
      this.mirrors.run(signal),
      this.housekeeper.run(signal),
      this.reconciler?.run(signal),
      this.senders.run(signal),
    ]);
  }

  private startServers(): Promise<AgentServers> {
    const { options, api, names, runtime, logger } = this.dependencies;
    const { timers, manager, view, probeCounts } = this;
    return AgentServers.start(options, api, names, {
      ...{ runtime, manager, view, timers, logger, probeCounts },
      machine: this.description.machine,
      healthProblem: () => this.healthProblem,
      shutdownTimes: () => this.shutdowns.times,
      volumeUse: (uid) => this.csi.statistics.of(uid),
    });
  }

  /** Shows another certificate from now on. */
  useServingCertificate(pair: CertificatePair): void {
    this.servers?.useCertificate(pair);
  }

  /** Ends all pods because the machine shuts down. The node takes no further pods and reports that it shuts down. */
  shutDown(groups: readonly ShutdownGroup[]): Promise<void> {
    this.description.isShuttingDown = true;
    this.reporter.changed();
    this.shuttingDown ??= this.endAll(groups);
    return this.shuttingDown;
  }

  /** A record that can't be written must not shorten the time that pods have to end. */
  private async endAll(groups: readonly ShutdownGroup[]): Promise<void> {
    const { shutdowns, timers } = this;
    const { logger } = this.dependencies;
    const failed = (error: unknown) => logger.warn('the time of the shutdown could not be stored', { error });
    await shutdowns.began(timers.now()).catch(failed);
    await endPods(this.manager, groups, timers);
    await shutdowns.ended(timers.now()).catch(failed);
  }

  /** The machine does not shut down after all: the node takes pods again. */
  goOn(): void {
    this.shuttingDown = undefined;
    this.description.isShuttingDown = false;
    this.reporter.changed();
  }

  /** Containers keep running. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.plugins.stop();
    await Promise.all([this.servers?.stop(), this.statics.stop()]);
    await this.work;
    await this.network.stop();
  }

  /** When every source has been read, pods that no source names may be ended. */
  private completeSources(): void {
    if (this.isListed && this.statics.isComplete) this.manager.complete();
  }

  private takeNode(node: Node): void {
    this.csi.seen(node);
    this.network.seen(node);
  }

  private followPods(signal: AbortSignal): Promise<void> {
    const { api, logger, options, random = Math.random } = this.dependencies;
    const { manager, mirrors, timers } = this;
    const onListed = () => {
      this.isListed = true;
      this.completeSources();
    };
    const { nodeName } = options;
    return followApiPods({ api, nodeName, manager, mirrors, onListed, timers, random, logger }, signal);
  }
}

/** Why a node with these conditions refuses this pod; undefined if it accepts it. */
function refusalOf({ isShuttingDown, pressures }: NodeDescription, pod: Pod): PodEnd | undefined {
  if (isShuttingDown) return { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' };
  if (!isRefusedUnder(pressures, pod)) return undefined;
  return { reason: 'Evicted', message: `The node had condition: [${[...pressures].join(', ')}]. ` };
}
