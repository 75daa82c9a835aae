import { parseCidr } from '../../base/config/network.js';
import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import { quantityMilliValue, quantityValue } from '../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { renewNodeLease } from '../connection/node-lease.js';
import { watchPods } from '../connection/pod-watch.js';
import type { SimulatedBackOff } from './container-run.js';
import {
  attachAnnotation,
  conditionTimes,
  extendedResources,
  type NodeProfile,
  nodeObject,
  simulatedNodeStatus,
} from './node-object.js';
import { NodeVolumes } from './node-volumes.js';
import { PodAddresses } from './pod-addresses.js';
import type { PodEvents } from './pod-events.js';
import type { CapacityCheck } from './pod-resizing.js';
import { PodRunner } from './pod-runner.js';

export interface SimulatedNodeDependencies {
  readonly api: ApiUser;
  readonly profile: NodeProfile;
  readonly names: VendorNames;
  readonly timers: Timers;
  readonly random: () => number;
  readonly logger: Logger;
  readonly backOff: SimulatedBackOff;
  readonly leaseMs: number;
  readonly addresses: PodAddresses;
  /** Writes the events of pods; undefined: there are none. */
  readonly events: PodEvents | undefined;
}

/** How often the status is reported although nothing changed; changes by others are checked more often. */
const statusMs = 300_000;
const retryMs = 1000;
/** How many times a lease is renewed before it would expire. */
const renewals = 4;
/** How many times per lease duration the node checks for changes of its status by others. */
const looks = 2;

/**
 * One node: registers, renews its lease, reports its status and runs the pods that are bound to it. A node that
 * somebody deletes from the API stays away until the program starts again.
 */
export class SimulatedNode {
  private readonly runners = new Map<string, PodRunner>();
  private addresses: PodAddresses;
  private uid = '';
  /** When the whole status was last reported. */
  private reportedAt: number | undefined;
  private readonly volumes: NodeVolumes;

  constructor(private readonly dependencies: SimulatedNodeDependencies) {
    this.addresses = dependencies.addresses;
    const { api, names, timers, logger, events } = dependencies;
    this.volumes = new NodeVolumes({
      ...{ api, names, timers, logger },
      node: this.name,
      isThere: (uid) => this.runners.has(uid),
      onMissing: (uid, volumes) => {
        const plan = this.runners.get(uid)?.machine.plan;
        const listed = volumes.join(', ');
        const message = `Unable to attach or mount volumes: unmounted volumes=[${listed}], unattached volumes=[${listed}], failed to process volumes=[]: context deadline exceeded`;
        if (plan !== undefined) events?.record(plan, { type: 'Warning', reason: 'FailedMount', message });
      },
    });
  }

  get name(): string {
    return this.dependencies.profile.name;
  }

  get address(): string {
    return this.dependencies.profile.address;
  }

  /** The pods of the node. */
  pods(): Iterable<PodRunner> {
    return this.runners.values();
  }

  /** The pod of this namespace and name on the node, with its containers. */
  findPod(namespace: string, name: string): PodRunner | undefined {
    for (const runner of this.runners.values()) {
      const { plan } = runner.machine;
      if (plan.name === name && plan.namespace === namespace) return runner;
    }
    return undefined;
  }

  /** Runs until the abort. `registered` is called when the API knows the node and its lease. */
  async run(signal: AbortSignal, registered: () => void): Promise<void> {
    const { timers, logger } = this.dependencies;
    for (;;) {
      try {
        await this.register(signal);
        await this.renewLease(signal);
        break;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('a simulated node could not register yet', { node: this.name, error: errorText(error) });
        await timers.wait(retryMs, signal);
        if (signal.aborted) return;
      }
    }
    registered();
    await Promise.all([
      this.repeat('renew its lease', this.dependencies.leaseMs / renewals, signal, () => this.renewLease(signal)),
      this.repeat('report its status', this.dependencies.leaseMs / looks, signal, () => this.reportStatus(signal)),
      this.followPods(signal),
    ]);
  }

  private async repeat(what: string, everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { timers, random, logger } = this.dependencies;
    // Nodes that started together spread out.
    await timers.wait(everyMs * random(), signal);
    while (!signal.aborted) {
      let pauseMs = everyMs;
      try {
        await work();
      } catch (error) {
        if (signal.aborted) return;
        pauseMs = Math.min(everyMs, retryMs);
        logger.debug(`a simulated node could not ${what}`, { node: this.name, error });
      }
      await timers.wait(pauseMs, signal);
    }
  }

  private async register(signal: AbortSignal): Promise<void> {
    const { api, profile, names, timers } = this.dependencies;
    try {
      this.knows(
        await api.send<Node>('POST', '/api/v1/nodes', { body: nodeObject(profile, names, timers.now()), signal }),
      );
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      const body = { metadata: { annotations: attachAnnotation(names) } };
      const contentType = 'application/merge-patch+json';
      await api.send('PATCH', `/api/v1/nodes/${this.name}`, { body, contentType, signal });
      await this.reportStatus(signal);
    }
  }

  private knows(node: Node): Node {
    this.uid = node.metadata.uid ?? '';
    const range = parseCidr(node.spec?.podCIDR ?? '');
    if (range !== undefined) {
      const bits = (range.family === 4 ? 32 : 128) - range.prefix;
      this.addresses = new PodAddresses(range, 0n, 1n << BigInt(bits));
    }
    return node;
  }

  private async reportStatus(signal: AbortSignal): Promise<void> {
    const { api, profile, timers } = this.dependencies;
    const path = `/api/v1/nodes/${this.name}`;
    this.retryResizes();
    try {
      const live = this.knows(await api.send<Node>('GET', `${path}?resourceVersion=0`, { rank: 'urgent', signal }));
      const times = conditionTimes(live);
      const now = timers.elapsed();
      const { conditions } = simulatedNodeStatus(profile, 0, times);
      const extended = extendedResources(live, profile);
      const volumesInUse = this.volumes.mounted;
      const isReported = JSON.stringify([...(live.status?.volumesInUse ?? [])].sort()) === JSON.stringify(volumesInUse);
      const isCurrent = times.size === conditions.length && extended === undefined && isReported;
      if (this.reportedAt !== undefined && now < this.reportedAt + statusMs && isCurrent) return;
      const status = simulatedNodeStatus(profile, timers.now(), times);
      const allocatable = { ...status.allocatable, ...extended };
      const body = { status: { ...status, allocatable, ...(isReported ? {} : { volumesInUse }) } };
      const contentType = 'application/strategic-merge-patch+json';
      await api.send('PATCH', `${path}/status`, { body, contentType, rank: 'urgent', signal });
      this.reportedAt = now;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }

  private renewLease(signal: AbortSignal): Promise<void> {
    const { api, names, timers, leaseMs } = this.dependencies;
    return renewNodeLease({ api, names, node: this.name, uid: this.uid, leaseMs, now: timers.now(), signal });
  }

  private async followPods(signal: AbortSignal): Promise<void> {
    const { api, timers, random, logger } = this.dependencies;
    await watchPods(
      {
        api,
        node: this.name,
        timers,
        random,
        logger,
        known: () => this.runners.keys(),
        onPod: (pod) => this.onPod(pod, signal),
        onGone: (uid) => {
          this.runners.get(uid)?.forget();
          this.runners.delete(uid);
          this.volumes.free(uid, signal);
          this.retryResizes();
        },
      },
      signal,
    );
  }

  private onPod(pod: Pod, signal: AbortSignal): void {
    const uid = pod.metadata.uid ?? '';
    const known = this.runners.get(uid);
    if (known !== undefined) {
      known.update(pod);
      this.retryResizes();
      return;
    }
    const { api, timers, logger, backOff, profile, events } = this.dependencies;
    const parts = {
      api,
      timers,
      logger,
      backOff,
      hostIP: profile.address,
      addresses: this.addresses,
      record: (plan: PodRunner['machine']['plan'], happening: Parameters<PodEvents['record']>[1]) =>
        events?.record(plan, happening),
      attached: (one: Pod) => this.volumes.untilAttached(one, signal),
      checkCapacity: (of: string) => this.capacityFor(of),
      ended: (ended: string) => {
        this.volumes.free(ended, signal);
        this.retryResizes();
      },
      signal,
    };
    const { phase } = pod.status ?? {};
    this.runners.set(uid, new PodRunner(parts, pod, phase === 'Succeeded' || phase === 'Failed'));
  }

  /** The node may have enough resources now for pods that wait for a resize. */
  private retryResizes(): void {
    for (const runner of this.runners.values()) runner.retryResize();
  }

  /** Whether the resized pod fits beside the other pods of the node. */
  private capacityFor(uid: string): CapacityCheck {
    const { capacity } = this.dependencies.profile;
    return (wanted) => {
      const others = [...this.runners].filter(([other, { machine }]) => other !== uid && !machine.isOver);
      const has = { cpu: quantityMilliValue(capacity.cpu ?? '0'), memory: quantityValue(capacity.memory ?? '0') };
      for (const name of ['cpu', 'memory'] as const) {
        const used = others.reduce((sum, [, { machine }]) => sum + machine.resizing.requests[name], 0);
        if (used + wanted[name] <= has[name]) continue;
        return `Node didn't have enough resource: ${name}, requested: ${wanted[name]}, used: ${used}, capacity: ${has[name]}`;
      }
      return undefined;
    };
  }
}
