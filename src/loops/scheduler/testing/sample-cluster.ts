import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { Cluster } from '../cluster.js';
import type { ClusterObjects } from '../cluster-objects.js';
import { findNode } from '../find-node.js';
import { fitMessage } from '../fit-message.js';
import { PodInfo } from '../pod-info.js';

let serial = 0;

/** What a sample pod is made of; the rest is its spec. */
export interface SamplePod {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: object;
  /** Requests of its only container. */
  readonly requests?: object;
  readonly priority?: number;
  readonly status?: object;
  readonly metadata?: object;
  readonly [field: string]: unknown;
}

export function samplePod({ name, namespace = 'ns', labels, requests, status, metadata, ...spec }: SamplePod = {}) {
  serial += 1;
  return new PodInfo({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: name ?? `pod-${serial}`, namespace, uid: `uid-${name ?? serial}`, labels, ...metadata },
    spec: { containers: [{ name: 'c', image: 'app:1', resources: { requests } }], ...spec },
    status: { phase: 'Pending', ...status },
  } as unknown as Pod & ApiObject);
}

export interface SampleNode {
  readonly labels?: Record<string, string>;
  readonly taints?: readonly object[];
  readonly unschedulable?: boolean;
  readonly allocatable?: Record<string, string>;
  readonly images?: readonly object[];
  readonly pods?: readonly PodInfo[];
}

/** A cluster of nodes by name, each with a host name and capacity for 4 CPUs, 8 GiB and 10 pods unless overridden. */
export function sampleCluster(nodes: Readonly<Record<string, SampleNode>>, clusterObjects?: ClusterObjects): Cluster {
  const cluster = new Cluster('kubernetes.io', clusterObjects);
  for (const [name, { labels, taints, unschedulable, allocatable, images, pods = [] }] of Object.entries(nodes)) {
    cluster.setNode({
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      spec: { taints, unschedulable },
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10', ...allocatable }, images },
    } as unknown as Node & ApiObject);
    for (const pod of pods) cluster.addPod(pod, name);
  }
  return cluster;
}

/** The chosen node, or why there is none. */
export function placement(pod: PodInfo, cluster: Cluster): string {
  const found = findNode(pod, cluster, { random: () => 0.5 });
  return found.kind === 'found' ? found.node : fitMessage(found);
}
