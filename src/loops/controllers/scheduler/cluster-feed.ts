import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { Cluster } from '../../scheduler/cluster.js';
import type { StoredDeviceClaim } from '../../scheduler/devices/device-objects.js';
import type { FilterName } from '../../scheduler/filter.js';
import { filters } from '../../scheduler/filters/index.js';
import { fitsResources } from '../../scheduler/filters/resources.js';
import { demandsOf, refusalOf } from '../../scheduler/find-node.js';
import { helpsByBeingGone, helpsByBeingThere } from '../../scheduler/hints.js';
import { PodInfo } from '../../scheduler/pod-info.js';
import type { QueuedPod, SchedulingQueue } from '../../scheduler/scheduling-queue.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { InformedClusterObjects } from './informed-cluster-objects.js';

type StoredPod = Pod & ApiObject;
type StoredNode = Node & ApiObject;

/** Filters that look only at the node and the pods on it. */
const ofNodeAlone: ReadonlySet<FilterName> = new Set([
  'PlacingLimits',
  'NodeUnschedulable',
  'NodeName',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
]);
const nodeFilters = filters.filter(({ name }) => ofNodeAlone.has(name));
/** How many changes are processed between two reads of the clock. */
const newsAtOnce = 16;
/** Filters for which the pods on other nodes matter. */
const aboutPods: readonly FilterName[] = ['InterPodAffinity', 'PodTopologySpread'];
const aboutVolumes: readonly FilterName[] = ['VolumeBinding', 'VolumeZone', 'VolumeRestrictions', 'NodeVolumeLimits'];
const capacityFilters: readonly FilterName[] = [
  'NodeResourcesFit',
  'NodePorts',
  'VolumeRestrictions',
  'NodeVolumeLimits',
];

/** Keeps the cluster in memory and the queue in step with the informers, and wakes the pods that a change may help. */
export class ClusterFeed {
  private readonly pods: Informer<StoredPod>;
  private readonly nodes: Informer<StoredNode>;
  /** Pods that were placed on a node here, until the informers show them there. */
  private readonly assumed = new Map<string, string>();
  /** Reports of informers that were not processed yet, in order. */
  private news: (() => void)[] = [];
  private read = 0;

  /**
   * @param wake called when there may be something to do
   * @param givenUp called with a pod that needs no node any more because it is about to be deleted
   */
  constructor(
    { informers }: ReconcileDependencies,
    private readonly schedulers: ReadonlySet<string>,
    private readonly cluster: Cluster,
    private readonly queue: SchedulingQueue,
    private readonly clusterObjects: InformedClusterObjects,
    private readonly wake: () => void,
    private readonly givenUp: (pod: StoredPod) => void,
  ) {
    this.pods = informers.of<StoredPod>({ group: '', resource: 'pods' });
    this.nodes = informers.of<StoredNode>({ group: '', resource: 'nodes' });
  }

  /** How many pods have a node here that no informer shows yet, for metrics. */
  get assumedCount(): number {
    return this.assumed.size;
  }

  /** Resolves when the informers are filled. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([this.clusterObjects.start(signal), this.pods.use(signal), this.nodes.use(signal)]);
    if (signal.aborted) return;
    const { namespaces, claims, volumes, classes, csiNodes, devices } = this.clusterObjects;
    const { nodes, pods } = this;
    await this.listen(nodes, (node, old) => this.nodeChanged(node, old), signal);
    await this.listen(namespaces, (namespace, old) => this.namespaceChanged(namespace, old), signal);
    await this.listen(claims, (claim, old) => this.claimChanged((claim ?? old) as ApiObject), signal);
    await this.listen(volumes, () => this.volumesChanged(), signal);
    await this.listen(classes, () => this.volumesChanged(), signal);
    await this.listen(csiNodes, () => this.queue.moveToActiveQueue(['NodeVolumeLimits']), signal);
    await this.listen(devices.classes, () => this.devicesChanged(), signal);
    await this.listen(devices.slices, () => this.devicesChanged(), signal);
    await this.listen(devices.rules, () => this.devicesChanged(), signal);
    await this.listen(devices.claims, (claim, old) => this.deviceClaimChanged(claim, old), signal);
    await this.listen(pods, (pod, old) => this.podChanged(pod, old), signal);
  }

  /** Processes reports of informers, for at most the given number of milliseconds. Returns whether that was all. */
  digest(milliseconds: number): boolean {
    const until = performance.now() + milliseconds;
    while (this.read < this.news.length) {
      this.news[this.read++]?.();
      if (this.read % newsAtOnce === 0 && performance.now() > until) return this.read === this.news.length;
    }
    if (this.read > 0) {
      this.news = [];
      this.read = 0;
    }
    return true;
  }

  /** Whether a pod needs a node from this scheduler. */
  isWaiting({ metadata, spec, status }: StoredPod): boolean {
    return (
      !spec.nodeName &&
      metadata.deletionTimestamp === undefined &&
      !hasEnded(status) &&
      this.schedulers.has(spec.schedulerName ?? '')
    );
  }

  /**
   * Counts a pod on a node before it is seen there. The returned function undoes this, unless the pod was seen
   * somewhere meanwhile.
   */
  assume(pod: PodInfo, node: string): () => void {
    this.cluster.addPod(pod, node);
    this.assumed.set(pod.uid, node);
    return () => {
      if (!this.assumed.delete(pod.uid)) return;
      this.cluster.removePod(pod.uid);
      this.podLeft(pod);
      this.capacityFreed(node);
    };
  }

  private listen<T extends ApiObject>(
    informer: Informer<T>,
    changed: (object: T | undefined, old: T | undefined) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const enqueue = (object: T | undefined, old: T | undefined) => {
      this.news.push(() => changed(object, old));
      this.wake();
    };
    return informer.subscribe({ changed: enqueue }, signal);
  }

  private podChanged(pod: StoredPod | undefined, old: StoredPod | undefined): void {
    if (pod === undefined || hasEnded(pod.status)) this.podGone((pod ?? old) as StoredPod);
    else if (pod.spec.nodeName) this.podPlaced(pod, pod.spec.nodeName, old);
    else if (this.isWaiting(pod)) this.podWaits(pod, old);
    else {
      this.podGone(pod);
      if (old !== undefined && this.isWaiting(old) && isEnding(pod)) this.givenUp(pod);
    }
  }

  private podGone({ metadata }: StoredPod): void {
    const uid = metadata.uid ?? '';
    this.assumed.delete(uid);
    this.queue.remove(uid);
    const left = this.cluster.placedPod(uid);
    const node = this.cluster.nodeOf(uid) ?? this.cluster.nominationOf(uid);
    this.cluster.removePod(uid);
    this.cluster.withdraw(uid);
    if (left !== undefined) this.podLeft(left);
    if (node !== undefined) this.capacityFreed(node);
  }

  private podPlaced(pod: StoredPod, node: string, old: StoredPod | undefined): void {
    const uid = pod.metadata.uid ?? '';
    const assumed = this.assumed.get(uid);
    this.assumed.delete(uid);
    this.queue.remove(uid);
    this.cluster.withdraw(uid);
    const before = this.cluster.placedPod(uid);
    const info = new PodInfo(pod);
    this.cluster.addPod(info, node);
    if (assumed !== undefined && assumed !== node) this.capacityFreed(assumed);
    if (!old?.spec.nodeName) this.podCame(info);
    else if (!isSame(old.metadata.labels, pod.metadata.labels) || isEnding(pod) !== isEnding(old)) {
      if (before !== undefined) this.podLeft(before);
      this.podCame(info);
    }
    if (before !== undefined && (isLess(info, before, 'milliCpu') || isLess(info, before, 'memory')))
      this.capacityFreed(node);
  }

  private podWaits(pod: StoredPod, old: StoredPod | undefined): void {
    const uid = pod.metadata.uid ?? '';
    if (this.assumed.has(uid)) return;
    const info = new PodInfo(pod);
    const nominated = pod.status?.nominatedNodeName;
    if (nominated) this.cluster.nominate(info, nominated);
    else if (old?.status?.nominatedNodeName) this.cluster.withdraw(uid);
    const isWorth =
      old === undefined ||
      !isSame(old.metadata.labels, pod.metadata.labels) ||
      !isSame(old.spec, pod.spec) ||
      !isSame(old.status?.resourceClaimStatuses, pod.status?.resourceClaimStatuses);
    this.queue.set(info, isWorth);
  }

  private nodeChanged(node: StoredNode | undefined, old: StoredNode | undefined): void {
    if (node === undefined) {
      this.cluster.removeNode(old?.metadata.name ?? '');
      // There is one topology domain fewer to spread over.
      this.queue.moveToActiveQueue(['PodTopologySpread']);
    } else {
      const isNew = old === undefined;
      if (!isNew && isSame(placingPart(old), placingPart(node))) return;
      this.cluster.setNode(node);
      const name = node.metadata.name ?? '';
      this.queue.moveToActiveQueue(null, (pod) => pod.refusedBy.has('PodTopologySpread') || this.mayBeOn(pod, name));
    }
  }

  private namespaceChanged(namespace: ApiObject | undefined, old: ApiObject | undefined): void {
    if (isSame(namespace?.metadata.labels, old?.metadata.labels)) return;
    this.cluster.counts.forget();
    this.queue.moveToActiveQueue(['InterPodAffinity']);
  }

  private claimChanged({ metadata }: ApiObject): void {
    const { namespace, name } = metadata;
    const isUser = ({ info }: QueuedPod) =>
      info.namespace === namespace && info.claims.some((claim) => claim.name === name);
    this.queue.moveToActiveQueue(aboutVolumes, isUser);
  }

  private volumesChanged(): void {
    this.queue.moveToActiveQueue(aboutVolumes);
  }

  private devicesChanged(): void {
    this.queue.moveToActiveQueue(['DynamicResources']);
  }

  /** A new or changed claim concerns its pods; one that gives back its devices concerns all pods. */
  private deviceClaimChanged(claim: StoredDeviceClaim | undefined, old: StoredDeviceClaim | undefined): void {
    const isFreed = old?.status?.allocation !== undefined && claim?.status?.allocation === undefined;
    if (isFreed) this.devicesChanged();
    if (claim !== undefined && old !== undefined && isSame(claim.status, old.status)) return;
    const { namespace, name = '', ownerReferences = [] } = (claim ?? old)?.metadata ?? {};
    const isUser = ({ info }: QueuedPod) =>
      info.namespace === namespace &&
      (usesClaim(info.pod, name) || ownerReferences.some(({ uid }) => uid === info.uid));
    this.queue.recheck(isUser);
    this.queue.moveToActiveQueue(['DynamicResources'], isUser);
  }

  private podCame(pod: PodInfo): void {
    const { namespaceLabels } = this.cluster;
    this.queue.moveToActiveQueue(aboutPods, (waiting) => helpsByBeingThere(waiting, pod, namespaceLabels));
  }

  private podLeft(pod: PodInfo): void {
    const { namespaceLabels } = this.cluster;
    this.queue.moveToActiveQueue(aboutPods, (waiting) => helpsByBeingGone(waiting, pod, namespaceLabels));
    if (pod.demandsSize > 0) {
      this.queue.moveToActiveQueue(['PlacingLimits'], ({ info }) => info.namespace === pod.namespace);
    }
    if (pod.claims.length > 0) this.queue.moveToActiveQueue(['VolumeRestrictions', 'NodeVolumeLimits']);
  }

  /** Wakes pods that may fit on a node that has more free capacity. */
  private capacityFreed(node: string): void {
    this.queue.moveToActiveQueue(capacityFilters, (pod) => this.mayBeOn(pod, node));
  }

  private mayBeOn({ info }: QueuedPod, name: string): boolean {
    const node = this.cluster.node(name);
    // Most refused pods lack free capacity, which is quick to check.
    if (node === undefined || !fitsResources(info, node)) return false;
    const demands = demandsOf(info, this.cluster, nodeFilters);
    return demands.refusal === undefined && refusalOf(demands.filters, node) === undefined;
  }
}

/** Whether a pod uses a claim to devices, under its own name or by a template. */
function usesClaim({ spec, status }: StoredPod, claim: string): boolean {
  return (
    (spec.resourceClaims ?? []).some(({ resourceClaimName }) => resourceClaimName === claim) ||
    (status?.resourceClaimStatuses ?? []).some(({ resourceClaimName }) => resourceClaimName === claim)
  );
}

function hasEnded(status: Pod['status'] | undefined): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function isEnding({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function isLess({ requests }: PodInfo, before: PodInfo, name: 'milliCpu' | 'memory'): boolean {
  return requests[name] < before.requests[name];
}

/** The parts of a node that matter for placing pods; heartbeats change none of them. */
function placingPart({ metadata, spec, status }: StoredNode): unknown {
  return [
    metadata.labels,
    spec?.taints,
    spec?.unschedulable,
    status?.allocatable,
    status?.capacity,
    status?.images?.map(({ names, sizeBytes }) => [names, sizeBytes]),
  ];
}
