import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { NamespaceLabels } from './affinity-terms.js';
import type { ClusterObjects } from './cluster-objects.js';
import { NodeInfo } from './node-info.js';
import { PodCounts } from './pod-counts.js';
import type { PodInfo } from './pod-info.js';

const unknownLabels: NamespaceLabels = () => undefined;

/** The state that decisions about placing a pod read. */
export interface SchedulingView {
  /** The nodes that exist, those of different zones in turn. */
  readonly nodes: readonly NodeInfo[];
  /** How the pods are spread over the nodes. */
  readonly counts: Pick<PodCounts, 'of' | 'termsOf' | 'admits' | 'isIgnored'>;
  /** The other objects that matter for a pod. */
  readonly clusterObjects: ClusterObjects;
  readonly namespaceLabels: NamespaceLabels;
  /** Prefix of well-known labels, e.g. `<prefix>/hostname`. */
  readonly labelPrefix: string;
  node(name: string): NodeInfo | undefined;
  /** The number of nodes that have an image. */
  nodesWithImage(name: string): number;
  /** Pods for which preemption makes space on the node. */
  nominated(node: string): Iterable<PodInfo>;
  /** The node on which preemption makes space for the pod. */
  nominationOf(uid: string): string | undefined;
  /** How many pods on nodes use a claim. */
  usesOf(namespace: string, claim: string): number;
}

/**
 * The known nodes and the pods on them: those that informers show, and pods that were just bound. Updated pod by pod
 * and node by node; no decision recomputes it.
 */
export class Cluster implements SchedulingView {
  private readonly infos = new Map<string, NodeInfo>();
  private readonly places = new Map<string, NodeInfo>();
  private readonly images = new Map<string, number>();
  private readonly nominations = new Map<string, Map<string, PodInfo>>();
  private readonly nominatedTo = new Map<string, string>();
  /** How many pods on nodes use a claim. */
  private readonly claimUses = new Map<string, number>();
  private ordered: readonly NodeInfo[] | undefined;
  readonly counts = new PodCounts(() => this.infos.values());

  constructor(
    readonly labelPrefix: string,
    readonly clusterObjects: ClusterObjects = {},
  ) {}

  get namespaceLabels(): NamespaceLabels {
    return this.clusterObjects.namespaceLabels ?? unknownLabels;
  }

  get nodes(): readonly NodeInfo[] {
    this.ordered ??= byZoneInTurn([...this.infos.values()], this.labelPrefix);
    return this.ordered;
  }

  /** How many pods are on nodes, for metrics. */
  get podCount(): number {
    return this.places.size;
  }

  node(name: string): NodeInfo | undefined {
    const info = this.infos.get(name);
    return info?.node === undefined ? undefined : info;
  }

  nodesWithImage(name: string): number {
    return this.images.get(name) ?? 0;
  }

  setNode(node: Node & ApiObject): void {
    const info = this.info(node.metadata.name ?? '');
    const before = info.node === undefined ? undefined : zoneOf(info, this.labelPrefix);
    this.countImages(info, -1);
    info.setNode(node);
    this.countImages(info, 1);
    if (before === undefined || before !== zoneOf(info, this.labelPrefix)) this.ordered = undefined;
  }

  removeNode(name: string): void {
    const info = this.infos.get(name);
    if (info === undefined) return;
    this.countImages(info, -1);
    info.clearNode();
    this.ordered = undefined;
    this.dropEmpty(info);
  }

  /** Puts a pod on a node, or replaces its older state there; removes it from any other node. */
  addPod(pod: PodInfo, nodeName: string): void {
    this.removePod(pod.uid);
    const info = this.info(nodeName);
    info.add(pod);
    this.places.set(pod.uid, info);
    this.counts.changed(pod, info, 1);
    this.countClaims(pod, 1);
  }

  removePod(uid: string): void {
    const info = this.places.get(uid);
    if (info === undefined) return;
    this.places.delete(uid);
    const pod = info.remove(uid);
    if (pod !== undefined) {
      this.counts.changed(pod, info, -1);
      this.countClaims(pod, -1);
    }
    this.dropEmpty(info);
  }

  /** The name of the node that the pod is on; undefined when it is not known. */
  nodeOf(uid: string): string | undefined {
    return this.places.get(uid)?.name;
  }

  /** The pod as it is known on its node. */
  placedPod(uid: string): PodInfo | undefined {
    return this.places.get(uid)?.pods.get(uid);
  }

  nominated(node: string): Iterable<PodInfo> {
    return this.nominations.get(node)?.values() ?? [];
  }

  /** Records that preemption makes space for a pod on a node. */
  nominate(pod: PodInfo, node: string): void {
    this.withdraw(pod.uid);
    this.nominatedTo.set(pod.uid, node);
    const pods = this.nominations.get(node);
    if (pods === undefined) this.nominations.set(node, new Map([[pod.uid, pod]]));
    else pods.set(pod.uid, pod);
  }

  /** Records that preemption no longer makes space for the pod. */
  withdraw(uid: string): void {
    const node = this.nominatedTo.get(uid);
    if (node === undefined) return;
    this.nominatedTo.delete(uid);
    const pods = this.nominations.get(node);
    pods?.delete(uid);
    if (pods?.size === 0) this.nominations.delete(node);
  }

  /** The node on which preemption makes space for the pod. */
  nominationOf(uid: string): string | undefined {
    return this.nominatedTo.get(uid);
  }

  usesOf(namespace: string, claim: string): number {
    return this.claimUses.get(`${namespace}/${claim}`) ?? 0;
  }

  private countClaims({ namespace, claims }: PodInfo, by: 1 | -1): void {
    for (const { name } of claims) {
      const key = `${namespace}/${name}`;
      const count = (this.claimUses.get(key) ?? 0) + by;
      if (count > 0) this.claimUses.set(key, count);
      else this.claimUses.delete(key);
    }
  }

  private info(name: string): NodeInfo {
    let info = this.infos.get(name);
    if (info === undefined) {
      info = new NodeInfo(name);
      this.infos.set(name, info);
    }
    return info;
  }

  private dropEmpty(info: NodeInfo): void {
    if (info.node === undefined && info.pods.size === 0) this.infos.delete(info.name);
  }

  private countImages(info: NodeInfo, by: 1 | -1): void {
    for (const name of info.images.keys()) {
      const count = (this.images.get(name) ?? 0) + by;
      if (count > 0) this.images.set(name, count);
      else this.images.delete(name);
    }
  }
}

/** Region and zone of a node, as one string. */
function zoneOf({ labels }: NodeInfo, prefix: string): string {
  const of = (name: string) => labels[`topology.${prefix}/${name}`] ?? labels[`failure-domain.beta.${prefix}/${name}`];
  return `${of('region') ?? ''}\0${of('zone') ?? ''}`;
}

/** Alternates between zones, so that a search of some nodes covers all zones. */
function byZoneInTurn(infos: readonly NodeInfo[], prefix: string): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const info of infos) {
    if (info.node === undefined) continue;
    const zone = zoneOf(info, prefix);
    const members = zones.get(zone);
    if (members === undefined) zones.set(zone, [info]);
    else members.push(info);
  }
  const ordered: NodeInfo[] = [];
  const lists = [...zones.values()];
  for (let i = 0; lists.some((list) => i < list.length); i++) {
    for (const list of lists) {
      const info = list[i];
      if (info !== undefined) ordered.push(info);
    }
  }
  return ordered;
}
