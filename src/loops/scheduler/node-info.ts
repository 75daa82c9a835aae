import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Labels } from '../../base/machinery/label-selector.js';
import { quantityValue } from '../../base/machinery/values/quantity.js';
import type { Taint } from '../../objects/apis/core/v1/affinity.types.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import { AmountSums } from './amount-sums.js';
import { amountsOfList, type SchedulerAmounts } from './amounts.js';
import { HostPorts } from './host-ports.js';
import type { SelectableNode } from './node-selection.js';
import type { PodInfo } from './pod-info.js';

const noLabels: Labels = {};
const noTaints: readonly Taint[] = [];
const nothing = amountsOfList(undefined);

/** A node with the pods on it and the sums of their requests, kept up to date pod by pod. */
export class NodeInfo implements SelectableNode {
  /** The Node; undefined while only pods name it. */
  node: (Node & ApiObject) | undefined = undefined;
  labels: Labels = noLabels;
  taints: readonly Taint[] = noTaints;
  isUnschedulable = false;
  allocatable: SchedulerAmounts = nothing;
  mostPods = 0;
  /** Sizes in bytes of the images on the node, by each of their names. */
  images: ReadonlyMap<string, number> = new Map();
  readonly pods = new Map<string, PodInfo>();
  readonly requested = new AmountSums();
  scoredCpu = 0;
  scoredMemory = 0;
  readonly ports = new HostPorts();

  constructor(readonly name: string) {}

  setNode(node: Node & ApiObject): void {
    const { metadata, spec, status } = node;
    this.node = node;
    this.labels = metadata.labels ?? noLabels;
    this.taints = spec?.taints ?? noTaints;
    this.isUnschedulable = spec?.unschedulable === true;
    // All resources of a node that does not report its reservations are for pods.
    const resources = status?.allocatable ?? status?.capacity;
    this.allocatable = amountsOfList(resources);
    this.mostPods = quantityValue(resources?.pods ?? '0');
    const images = new Map<string, number>();
    for (const { names = [], sizeBytes = 0 } of status?.images ?? []) {
      for (const name of names ?? []) images.set(name, Number(sizeBytes));
    }
    this.images = images;
  }

  /** Clears what was known of a node that is gone, while its pods are still there. */
  clearNode(): void {
    this.node = undefined;
    this.labels = noLabels;
    this.taints = noTaints;
    this.isUnschedulable = false;
    this.allocatable = nothing;
    this.mostPods = 0;
    this.images = new Map();
  }

  add(pod: PodInfo): void {
    this.remove(pod.uid);
    this.pods.set(pod.uid, pod);
    this.count(pod, 1);
  }

  /** Removes a pod, and returns it if it was there. */
  remove(uid: string): PodInfo | undefined {
    const pod = this.pods.get(uid);
    if (pod === undefined) return undefined;
    this.pods.delete(uid);
    this.count(pod, -1);
    return pod;
  }

  /** A copy of the node that can be changed separately. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.name);
    copy.node = this.node;
    copy.labels = this.labels;
    copy.taints = this.taints;
    copy.isUnschedulable = this.isUnschedulable;
    copy.allocatable = this.allocatable;
    copy.mostPods = this.mostPods;
    copy.images = this.images;
    for (const pod of this.pods.values()) copy.add(pod);
    return copy;
  }

  private count({ requests, scored, ports }: PodInfo, by: 1 | -1): void {
    this.requested.add(requests, by);
    this.scoredCpu += by * scored.milliCpu;
    this.scoredMemory += by * scored.memory;
    if (ports.length > 0) this.ports.add(ports, by);
  }
}
