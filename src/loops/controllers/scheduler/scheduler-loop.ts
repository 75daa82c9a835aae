import { setImmediate } from 'node:timers/promises';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import { Cluster } from '../../scheduler/cluster.js';
import { type ClaimPlan, claimPlans } from '../../scheduler/filters/volume-binding.js';
import { findNode, type NoNode } from '../../scheduler/find-node.js';
import { fitMessage } from '../../scheduler/fit-message.js';
import { PodInfo } from '../../scheduler/pod-info.js';
import { selectVictims } from '../../scheduler/preemption.js';
import { type QueuedPod, SchedulingQueue } from '../../scheduler/scheduling-queue.js';
import type { ControlLoop } from '../control-loop.js';
import { componentUser, ReconcileContext, schedulerAccount } from '../frame/reconcile-context.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { SchedulerCensus, SchedulingResult } from '../metrics/scheduler-metrics.js';
import { ClaimWaits } from './claim-waits.js';
import { ClusterFeed } from './cluster-feed.js';
import { DeviceBinder } from './device-binder.js';
import { DeviceWriter } from './device-writer.js';
import { InformedClusterObjects } from './informed-cluster-objects.js';
import { PodWriter } from './pod-writer.js';

type StoredPod = Pod & ApiObject;

export interface SchedulerOptions extends ReconcileDependencies {
  /** Pods that name one of these schedulers are placed. Default: `default-scheduler`. */
  readonly schedulerNames?: readonly string[] | undefined;
}

const defaultSchedulerNames = ['default-scheduler'];
/** How long pods are placed before other work in the process gets its turn, in milliseconds (approximately). */
const turnMs = 5;
/** The most pods being bound to a node at one time. */
const mostBindings = 128;
const flushPauseMs = 30_000;
/** A fixed reason for aborts: without one, every abort would create an error with a stack trace. */
const wakeReason = 'woken';

/**
 * Finds a node for every pod that has none and binds it there.
 *
 * Decisions are made one after the other, each without interruption over the state in memory, in which a pod counts on
 * its node as soon as that is decided. The bindings are written concurrently. A binding that fails is forgotten, and
 * the pod is tried again. No state is kept outside the store: a successor begins with the pods that have no node.
 */
export class SchedulerLoop implements ControlLoop {
  readonly name = schedulerAccount;
  private readonly names: ReadonlySet<string>;
  private readonly user: UserInfo;
  private readonly pods: Informer<StoredPod>;
  private wake: () => void = () => undefined;

  constructor(private readonly dependencies: SchedulerOptions) {
    this.names = new Set(dependencies.schedulerNames ?? defaultSchedulerNames);
    this.user = componentUser(this.name);
    this.pods = dependencies.informers.of<StoredPod>({ group: '', resource: 'pods' });
  }

  async run(signal: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const term = new Term(this.dependencies, this.names, this.pods, this.name, this.user, () => this.wake());
    const hide = this.dependencies.loopMetrics?.scheduler.show(() => term.census());
    try {
      await term.feed.start(ended);
      if (ended.aborted) return;
      term.claimWaits.start(ended);
      await Promise.all([this.place(term, ended), this.flush(term, ended)]);
    } finally {
      hide?.();
      failed.abort();
      await term.writer.settled();
    }
  }

  private async place(term: Term, ended: AbortSignal): Promise<void> {
    let began = performance.now();
    while (!ended.aborted) {
      // No decision is made before all known changes are processed.
      if (!term.feed.digest(turnMs)) {
        await setImmediate();
        began = performance.now();
        continue;
      }
      const taken = term.writer.bindings < mostBindings ? term.queue.take() : undefined;
      if (taken === undefined) {
        await this.nap(term, ended);
        began = performance.now();
        continue;
      }
      const tried = performance.now();
      try {
        term.attempt(taken, ended);
      } catch (error) {
        // One malformed pod must not keep the others from their nodes.
        const { namespace, name } = taken.info;
        this.dependencies.logger.error('could not decide where to place a pod', { pod: `${namespace}/${name}`, error });
        term.queue.failed(taken);
        term.count('error', taken, tried);
      }
      const now = performance.now();
      term.queue.took(now - tried, taken);
      if (now - began < turnMs) continue;
      await setImmediate();
      began = performance.now();
    }
  }

  /** Waits until there may be a pod to place. */
  private async nap({ queue }: Term, ended: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.wake = () => woken.abort(wakeReason);
    const milliseconds = queue.nextDueMs() ?? flushPauseMs;
    await this.dependencies.timers.wait(Math.max(milliseconds, 1), AbortSignal.any([ended, woken.signal]));
  }

  private async flush({ queue }: Term, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await this.dependencies.timers.wait(flushPauseMs, ended);
      queue.flush();
      this.wake();
    }
  }
}

/** The state of the scheduler from the start of its work to the end. */
class Term {
  readonly queue: SchedulingQueue;
  readonly cluster: Cluster;
  readonly feed: ClusterFeed;
  readonly writer: PodWriter;
  readonly claimWaits: ClaimWaits;
  private readonly devices: DeviceBinder;
  private readonly clusterObjects: InformedClusterObjects;
  /** The node to begin the next search with. */
  private from = 0;

  constructor(
    private readonly dependencies: SchedulerOptions,
    private readonly names: ReadonlySet<string>,
    private readonly pods: Informer<StoredPod>,
    loop: string,
    user: UserInfo,
    private readonly wake: () => void,
  ) {
    this.queue = new SchedulingQueue({
      now: () => dependencies.timers.elapsed(),
      holds: (namespace) => this.writer.isBehind(namespace),
      waits: (info) => this.clusterObjects.waitsForClaims(info),
    });
    const clusterObjects = new InformedClusterObjects(dependencies);
    this.clusterObjects = clusterObjects;
    this.cluster = new Cluster(dependencies.names.labelPrefix, clusterObjects);
    const writer = new PodWriter(dependencies, loop, user, wake);
    const givenUp = (pod: StoredPod) => writer.skipped(pod);
    this.feed = new ClusterFeed(dependencies, this.names, this.cluster, this.queue, clusterObjects, wake, givenUp);
    this.writer = writer;
    this.claimWaits = new ClaimWaits(dependencies, clusterObjects, this.cluster);
    const work = (signal: AbortSignal) => new ReconcileContext(user, loop, dependencies.timers.now(), signal);
    const deviceWriter = new DeviceWriter({ ...dependencies, work }, clusterObjects.devices);
    this.devices = new DeviceBinder(deviceWriter, this.writer, clusterObjects.devices, this.cluster);
  }

  /** The state that metrics show. */
  census(): SchedulerCensus {
    const { queue, cluster, feed } = this;
    const cache = { nodes: cluster.nodes.length, pods: cluster.podCount, assumed_pods: feed.assumedCount };
    return { queues: queue.depths, refusedBy: queue.refusals, cache };
  }

  /** Counts an attempt, which began at `began` (as `performance.now()` shows). */
  count(result: SchedulingResult, { info, attempts, triableSince }: QueuedPod, began: number): void {
    const { loopMetrics, timers } = this.dependencies;
    if (loopMetrics === undefined) return;
    const { scheduler } = loopMetrics;
    scheduler.attempted(result, info.pod.spec.schedulerName ?? '', (performance.now() - began) / 1000);
    const elapsed = timers.elapsed();
    if (result === 'scheduled') scheduler.placed(attempts, (elapsed - (triableSince ?? elapsed)) / 1000);
  }

  /** Decides about one pod. Returns at once; the decision is written concurrently. */
  attempt(taken: QueuedPod, signal: AbortSignal): void {
    const info = this.current(taken.info);
    if (info === undefined) {
      this.queue.remove(taken.info.uid);
      return;
    }
    const { cluster, queue } = this;
    const began = performance.now();
    const found = findNode(info, cluster, { random: this.dependencies.random, from: this.from });
    this.dependencies.loopMetrics?.scheduler.searched((performance.now() - began) / 1000);
    if (found.kind === 'none') {
      this.refuse(taken, info, found, signal);
      this.count('unschedulable', taken, began);
      return;
    }
    this.from = (this.from + found.seen) % Math.max(1, cluster.nodes.length);
    const plans = claimPlans(info, found.node, cluster);
    const devices = this.devices.planFor(info, found.node);
    const forgetPod = this.feed.assume(info, found.node);
    const forgetDevices = devices === undefined ? undefined : this.devices.reserve(devices);
    const forget = () => {
      forgetPod();
      forgetDevices?.();
    };
    const bind = () => this.writer.bind(info.pod, found.node, signal);
    const bindWithVolumes = () =>
      plans.length === 0 ? bind() : this.claimsBound(info, plans, found.node, signal).then((are) => are && bind());
    // Meanwhile other pods get their nodes.
    const outcome =
      devices === undefined ? bindWithVolumes() : this.devices.bind(info, devices, found.node, signal, bindWithVolumes);
    void outcome.then((isBound) => {
      this.count(isBound ? 'scheduled' : 'error', taken, began);
      if (isBound) queue.remove(info.uid);
      else {
        forget();
        queue.failed(taken);
      }
      this.wake();
    });
  }

  /** Gets the claims of a pod bound for its node; resolves with whether they are bound. */
  private async claimsBound(
    info: PodInfo,
    plans: readonly ClaimPlan[],
    node: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      const prepared = await this.writer.prepareClaims(info.pod, plans, node, signal);
      return prepared !== undefined && (await this.claimWaits.bound(info, node, prepared, signal));
    } catch (error) {
      const pod = `${info.namespace}/${info.name}`;
      if (!signal.aborted) this.dependencies.logger.warn('could not read the claims of a pod', { pod, error });
      return false;
    }
  }

  private refuse(taken: QueuedPod, info: PodInfo, found: NoNode, signal: AbortSignal): void {
    const { cluster, queue, writer } = this;
    const preemption = selectVictims(info, cluster, found, {
      budgets: this.clusterObjects.budgetsIn,
      random: this.dependencies.random,
    });
    const victimCount = preemption.kind === 'none' ? 0 : preemption.victims.length;
    this.dependencies.loopMetrics?.scheduler.preempted(victimCount);
    queue.refused(taken, found.by);
    if (found.by.has('DynamicResources')) this.devices.free(info, signal);
    if (preemption.kind === 'none') {
      if (!preemption.isWaiting) cluster.withdraw(info.uid);
      const nominated = cluster.nominationOf(info.uid) ?? '';
      writer.unschedulable(info.pod, fitMessage(found, preemption.message), nominated, signal);
      return;
    }
    const { node, victims } = preemption;
    // Less important pods that wait for the same space have to be tried again.
    for (const other of [...cluster.nominated(node)]) {
      if (other.priority >= info.priority || other.uid === info.uid) continue;
      cluster.withdraw(other.uid);
      writer.withdraw(other.pod, signal);
    }
    cluster.nominate(info, node);
    const hope = `found a potential placement for pod on node ${node}, preempting ${victims.length} victims`;
    writer.unschedulable(info.pod, fitMessage(found, hope), node, signal);
    for (const victim of victims) if (!victim.isEnding) writer.preempt(victim.pod, info.pod, node, signal);
  }

  /** The newest state of a pod, if it still needs a node. */
  private current({ pod, uid }: PodInfo): PodInfo | undefined {
    const live = this.pods.get(pod.metadata.namespace ?? '', pod.metadata.name ?? '');
    if (live === undefined || live.metadata.uid !== uid || !this.feed.isWaiting(live)) return undefined;
    return live === pod ? new PodInfo(pod) : new PodInfo(live);
  }
}
