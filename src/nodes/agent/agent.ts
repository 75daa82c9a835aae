import { promises as fs } from 'node:fs';
import { decode } from '../../base/machinery/schema/index.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Taint } from '../../objects/apis/core/v1/affinity.types.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import { type Pod, pod as podType } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { watchPods } from '../connection/pod-watch.js';
import { ApiObjects } from './api-objects.js';
import { Cgroups } from './containers/cgroups.js';
import { ContainerStarter } from './containers/container-starter.js';
import { readResolvConf } from './containers/host-files.js';
import type { ContainerRuntime } from './cri/container-runtime.js';
import { AgentEvents } from './events.js';
import { ImagePuller } from './images/image-puller.js';
import { NodeDescription } from './node/node-description.js';
import { NodeReporter } from './node/node-reporter.js';
import type { NodeSettings } from './node-settings.js';
import { PodFolders } from './pod-folders.js';
import { PodManager } from './pod-manager.js';
import { PodTokens } from './pod-tokens.js';
import { BackOff } from './pods/back-off.js';
import { podAnnotations } from './pods/pod-form.js';
import { RuntimeView } from './pods/runtime-view.js';
import { RuntimeHealth } from './runtime-health.js';
import { ServiceWatch } from './service-watch.js';
import { preparePodVolumes } from './volumes/pod-volumes.js';

export interface AgentOptions {
  readonly nodeName: string;
  readonly hostname: string;
  readonly nodeIPs: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly registersNode: boolean;
  readonly unschedulable: boolean;
  readonly rootFolder: string;
  readonly logFolder: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly resolvConf: string;
  /** Cgroup below which all pods are: `/` or one of the administrator's. */
  readonly cgroupRoot: string;
  readonly cfsQuota: boolean;
  readonly cfsQuotaPeriodMs: number;
  readonly maxPods: number;
  readonly podCidr: string;
  readonly leaseMs: number;
  readonly statusLookMs: number;
  readonly statusReportMs: number;
  readonly eventQps: number;
  readonly eventBurst: number;
  readonly serializesPulls: boolean;
  readonly port: number;
  /** The release that nodes report. */
  readonly version: string;
  /** What is kept of the machine for itself, of each resource. */
  readonly reserved: Readonly<Record<string, number>>;
}

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
  private readonly reporter: NodeReporter;
  private readonly services: ServiceWatch;
  private readonly stopping = new AbortController();
  private readonly timers: Timers;
  private work: Promise<unknown> = Promise.resolve();
  private podCidr = '';

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
        prober: { runtime, timers, random, userAgent },
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
      onMirrorGone: () => undefined,
      onDone: (uid) => tokens.forget(uid),
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

  /** Begins to work. @param registered called when the API has the node */
  start(registered: () => void): void {
    const { signal } = this.stopping;
    this.work = Promise.all([
      this.health.look(this.timers.elapsed()).then(() => this.manager.run(signal)),
      this.reporter.run(signal, registered),
      this.services.run(signal),
      this.followPods(signal),
    ]);
  }

  /** Containers run on. */
  async stop(): Promise<void> {
    this.stopping.abort();
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
    const mirror = `/${podAnnotations.mirror}`;
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
          if (Object.keys(pod.metadata.annotations ?? {}).some((key) => key.endsWith(mirror))) return;
          own.add(uid);
          this.manager.want(pod);
        },
        onGone: (uid) => {
          own.delete(uid);
          this.manager.drop(uid);
        },
        onListed: () => this.manager.complete(),
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
