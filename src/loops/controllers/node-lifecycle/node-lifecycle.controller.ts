import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { Lease } from '../../../objects/apis/coordination/v1/lease.types.js';
import type { PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import { podsByNode, type StoredPod } from '../frame/indexes.js';
import { isPodReady } from '../frame/pod-state.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  type GracePeriods,
  NodeSilence,
  readyStatus,
  type StoredNode,
  silentConditions,
  zoneOf,
} from './node-silence.js';
import { evictingKey, evictingTaints, hasEvictingTaint, schedulingTaints } from './node-taints.js';
import { RateLimit } from './rate-limit.js';
import { type EvictionRates, evictionRates, isEverythingLost, type ZoneCount } from './zones.js';

type StoredLease = Lease & ApiObject;

export interface NodeLifecycleDependencies extends ReconcileDependencies {
  readonly grace: GracePeriods;
  readonly rates: EvictionRates;
}

/** The key of the work on all zones; no node has this name. */
const zonesKey = '/zones';

/**
 * Watches over nodes. A node whose lease and status stay the same for too long gets the status Unknown; the taints of a
 * node follow its conditions; pods on a node that is not ready are marked not ready. Nodes that are not ready get the
 * taints that evict pods one after another, slower where a whole zone seems to be disturbed.
 */
export class NodeLifecycleController extends ReconcileLoop {
  readonly name = 'node-controller';
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly leases = this.informer<StoredLease>('coordination', 'leases');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly podsByNode = podsByNode(this.pods);
  private silence: NodeSilence;
  private readonly limits = new Map<string, RateLimit>();
  /** Nodes already reported as registered. */
  private readonly registered = new Map<string, StoredNode>();
  /**
   * By node that is not ready, the uids of the pods that were marked since it stopped being ready. Each is marked once at
   * most: if the agent still lives and contradicts, neither of both would ever stop writing.
   */
  private readonly marked = new Map<string, Set<string>>();
  /** Whether no node was ready at the last check. */
  private wasLost = false;

  constructor(private readonly own: NodeLifecycleDependencies) {
    super(own);
    this.silence = new NodeSilence(own.grace);
  }

  protected sources(): readonly Source[] {
    const { nodeLeaseNamespace } = this.dependencies.names;
    return [
      source(this.nodes, (node, old) => {
        const { name = '' } = (node ?? old)?.metadata ?? {};
        return this.concernsZones(node, old) ? [name, zonesKey] : [name];
      }),
      source(this.leases, (lease, old) => {
        const { namespace, name = '' } = (lease ?? old)?.metadata ?? {};
        return namespace === nodeLeaseNamespace ? [name] : [];
      }),
      source(this.pods, (pod, old) => {
        const node = pod?.spec.nodeName;
        return node && pod && isPodReady(pod) && (old === undefined || !isPodReady(old)) ? [node] : [];
      }),
    ];
  }

  /** Starts without any memory of heartbeats: a process that takes over has seen none yet. */
  protected override started(signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.dependencies.loopMetrics?.zones.seen(new Map()), { once: true });
    this.silence = new NodeSilence(this.own.grace);
    this.limits.clear();
    this.registered.clear();
    this.marked.clear();
  }

  private concernsZones(node: StoredNode | undefined, old: StoredNode | undefined): boolean {
    if (node === undefined || old === undefined) return true;
    const { names } = this.dependencies;
    return (
      readyStatus(node) !== readyStatus(old) ||
      hasEvictingTaint(node, names) !== hasEvictingTaint(old, names) ||
      zoneOf(node, names) !== zoneOf(old, names)
    );
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (key === zonesKey) return this.watchZones(work);
    const node = this.nodes.get('', key);
    this.announce(key, node);
    if (node === undefined) {
      this.silence.forget(key);
      this.marked.delete(key);
      return 'done';
    }
    const { nodeLeaseNamespace } = this.dependencies.names;
    const renewTime = this.leases.get(nodeLeaseNamespace, key)?.spec.renewTime ?? undefined;
    const leftMs = this.silence.leftMs(node, renewTime, this.dependencies.timers.elapsed());
    const known = leftMs > 0 ? node : ((await this.markSilent(node, work)) ?? node);
    // The node may have become ready meanwhile, for so short a time that nothing else shows it to this loop.
    const seen = (await this.followConditions(known, work)) ?? known;
    if (readyStatus(seen) !== undefined && readyStatus(seen) !== 'True') await this.markPods(seen, work);
    else this.marked.delete(key);
    return leftMs > 0 ? leftMs : 'done';
  }

  /** Writes events about added and removed nodes, as upstream does: each once in the term of a leader. */
  private announce(name: string, node: StoredNode | undefined): void {
    const known = this.registered.get(name);
    if (known?.metadata.uid === node?.metadata.uid) return;
    if (known !== undefined) {
      this.events.normal(known, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
      this.registered.delete(name);
    }
    if (node === undefined) return;
    this.events.normal(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    this.registered.set(name, node);
  }

  private async markSilent(node: StoredNode, work: ReconcileContext): Promise<StoredNode | undefined> {
    const time = formatTime(this.dependencies.timers.now());
    if (silentConditions(node, time) === undefined) return undefined;
    const wasReady = readyStatus(node) === 'True';
    const written = await this.client<StoredNode>('', 'nodes').updateStatus(work, node, (live) => {
      const conditions = silentConditions(live, time);
      if (conditions === undefined) return undefined;
      live.status.conditions = conditions;
      return live;
    });
    if (written !== undefined && wasReady) {
      this.events.normal(node, 'NodeNotReady', `Node ${node.metadata.name} status is now: NodeNotReady`);
    }
    return written;
  }

  /**
   * Sets the taints that keep new pods away, and removes those that evict pods from a node that is ready again. Returns the node that
   * was written; undefined if its taints were correct.
   */
  private async followConditions(node: StoredNode, work: ReconcileContext): Promise<StoredNode | undefined> {
    const { names, timers } = this.dependencies;
    const time = formatTime(timers.now());
    const next = (live: StoredNode) => {
      const scheduling = schedulingTaints(live, names, time);
      const first = scheduling === undefined ? live : withTaints(live, scheduling);
      // A node that goes from unreachable to not ready, or back, keeps a taint.
      const keeps = hasEvictingTaint(first, names) ? evictingKey(first, names) : undefined;
      const evicting = evictingTaints(first, keeps, names, time);
      if (evicting !== undefined) return withTaints(first, evicting);
      return scheduling === undefined ? undefined : first;
    };
    if (next(node) === undefined) return undefined;
    return this.client<StoredNode>('', 'nodes').update(work, node, next);
  }

  private async markPods(node: StoredNode, work: ReconcileContext): Promise<void> {
    const time = formatTime(this.dependencies.timers.now());
    const { name = '' } = node.metadata;
    const own = [...this.podsByNode.get(name)];
    const before = this.marked.get(name) ?? new Set();
    // Only pods that exist are remembered.
    const marked = new Set(own.map(({ metadata }) => metadata.uid ?? '').filter((uid) => before.has(uid)));
    this.marked.set(name, marked);
    for (const pod of own) {
      const { uid = '' } = pod.metadata;
      // What is known of a pod may be older than what is known of its node: a pod that looks marked is looked at again.
      if (marked.has(uid) || !isPodReady(pod)) continue;
      const written = await this.client<StoredPod>('', 'pods').updateStatus(work, pod, (live) => {
        const conditions = live.status.conditions ?? [];
        const index = conditions.findIndex(({ type }) => type === 'Ready');
        const ready = conditions[index];
        if (ready?.status !== 'True') return undefined;
        conditions[index] = { ...ready, status: 'False', lastTransitionTime: time } as PodCondition;
        return live;
      });
      if (written === undefined) continue;
      marked.add(uid);
      this.events.warning(pod, 'NodeNotReady', 'Node is not ready');
    }
  }

  /** Sets the taints that evict pods, as fast as the state of each zone allows. */
  private async watchZones(work: ReconcileContext): Promise<WorkOutcome> {
    const { names, timers } = this.dependencies;
    const zones = new Map<string, ZoneCount>();
    for (const node of this.nodes.all()) {
      const zone = zoneOf(node, names);
      const count = zones.get(zone) ?? { ready: 0, notReady: 0 };
      zones.set(zone, count);
      if (readyStatus(node) === 'True') count.ready += 1;
      else count.notReady += 1;
    }
    this.dependencies.loopMetrics?.zones.seen(zones);
    const isLost = isEverythingLost(zones);
    // After a time without any ready node it is not known how long the nodes were silent.
    if (this.wasLost && !isLost) this.silence.startAgain(timers.elapsed());
    this.wasLost = isLost;
    if (isLost) {
      await this.spareAll(work);
      return 'done';
    }
    const rates = evictionRates(zones, this.own.rates);
    let nextMs: number | undefined;
    for (const node of [...this.nodes.all()].sort(byName)) {
      const key = evictingKey(node, names);
      if (key === undefined || evictingTaints(node, key, names, '') === undefined) continue;
      const zone = zoneOf(node, names);
      const waitMs = this.limitOf(zone).take(timers.elapsed(), rates.get(zone) ?? 0);
      if (waitMs === 0) await this.evictFrom(node, work);
      else if (waitMs !== undefined) nextMs = Math.min(nextMs ?? waitMs, waitMs);
    }
    return nextMs ?? 'done';
  }

  private limitOf(zone: string): RateLimit {
    let limit = this.limits.get(zone);
    if (limit === undefined) {
      limit = new RateLimit(this.dependencies.timers.elapsed());
      this.limits.set(zone, limit);
    }
    return limit;
  }

  private async evictFrom(node: StoredNode, work: ReconcileContext): Promise<void> {
    const { names, timers } = this.dependencies;
    const written = await this.client<StoredNode>('', 'nodes').update(work, node, (live) => {
      const key = evictingKey(live, names);
      const taints = key === undefined ? undefined : evictingTaints(live, key, names, formatTime(timers.now()));
      return taints === undefined ? undefined : withTaints(live, taints);
    });
    if (written !== undefined) this.dependencies.loopMetrics?.zones.evicting(zoneOf(node, names));
  }

  private async spareAll(work: ReconcileContext): Promise<void> {
    const { names } = this.dependencies;
    const tainted = [...this.nodes.all()].filter((node) => hasEvictingTaint(node, names));
    for (const node of tainted) {
      await this.client<StoredNode>('', 'nodes').update(work, node, (live) => {
        const taints = evictingTaints(live, undefined, names, '');
        return taints === undefined ? undefined : withTaints(live, taints);
      });
    }
  }
}

function withTaints(node: StoredNode, taints: StoredNode['spec']['taints']): StoredNode {
  return { ...node, spec: { ...node.spec, taints } };
}

function byName(a: StoredNode, b: StoredNode): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
