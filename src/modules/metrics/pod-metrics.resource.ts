import type { ApiObject } from '../../base/machinery/api-object.js';
import {
  containerKey,
  type MeasurableNode,
  type MeasuredNode,
  type NodeUsage,
  type Usage,
} from '../../base/machinery/node-usage.js';
import { StatusError, serviceUnavailableError } from '../../base/machinery/status-error.js';
import { addQuantities, formatQuantity, quantityOf } from '../../base/machinery/values/quantity.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import { type PodMetrics, podMetrics } from '../../objects/apis/metrics/v1beta1/resource-metrics.types.js';
import { nameColumn } from '../../objects/registry/definition/default-columns.js';
import { defineComputedResource, type ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { readMetricPages } from './read-pages.js';
import { measuredAt, usageQuantities } from './usage-values.js';

/** The fields of a running pod from which its metrics are made. */
interface RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly labels: ApiObject['metadata']['labels'];
  readonly node: string;
  readonly containers: readonly string[];
}

/** Up to this number of nodes are read one by one; if more are needed, all nodes are read. */
const fewNodes = 20;

/** `pods.metrics`: what the containers of running pods use, as reported by the agents of their nodes. */
export function podMetricsResource(
  names: VendorNames,
  stores: ResourceStores,
  measure: NodeUsage | undefined,
): ResourceDefinition {
  const group = groupName('metrics', names);
  return defineComputedResource<PodMetrics & ApiObject>({
    group,
    resource: 'pods',
    singular: '',
    kind: 'PodMetrics',
    namespaced: true,
    versions: [{ version: 'v1beta1', type: podMetrics, isOnlyByName: true }],
    columns: [
      nameColumn,
      { name: 'CPU', type: 'string', description: 'Processors in use.', cell: (object) => total(object, 'cpu') },
      { name: 'Memory', type: 'string', description: 'Memory in use.', cell: (object) => total(object, 'memory') },
      { name: 'Window', type: 'string', description: 'Length of the measurement.', cell: ({ window }) => window },
    ],
    compute: async ({ namespace, name, wants, signal }) => {
      if (measure === undefined) throw serviceUnavailableError('this process does not reach nodes');
      const pods: RunningPod[] = [];
      for await (const page of readMetricPages(stores.named('', 'pods'), namespace)) {
        for (const pod of page) {
          if ((name === undefined || pod.metadata.name === name) && wants(pod)) pods.push(...runningPod(pod));
        }
      }
      const nodes = await nodesOf(stores, new Set(pods.map(({ node }) => node)));
      const measured = await measure.of(nodes, signal);
      return pods.flatMap((pod) => podObject(`${group}/v1beta1`, pod, measured.get(pod.node)));
    },
  });
}

function runningPod(object: ApiObject): RunningPod[] {
  const { metadata, spec, status } = object as ApiObject & Pod;
  if (status?.phase !== 'Running' || !spec.nodeName) return [];
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [
    {
      name: metadata.name ?? '',
      namespace: metadata.namespace ?? '',
      labels: metadata.labels,
      node: spec.nodeName,
      containers: [...sidecars, ...(spec.containers ?? [])].map((container) => container.name),
    },
  ];
}

async function nodesOf(stores: ResourceStores, wanted: ReadonlySet<string>): Promise<MeasurableNode[]> {
  const store = stores.named('', 'nodes');
  const found: MeasurableNode[] = [];
  if (wanted.size > fewNodes) {
    for await (const page of readMetricPages(store, undefined)) {
      found.push(...(page.filter(({ metadata }) => wanted.has(metadata.name ?? '')) as MeasurableNode[]));
    }
    return found;
  }
  for (const name of wanted) {
    try {
      found.push(parseStored(store.resource, await store.get('', name, 0n)) as MeasurableNode);
    } catch (error) {
      // A node that is gone has no measurements.
      if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
    }
  }
  return found;
}

/** An agent is trusted only about the containers of pods that are bound to its node. */
function podObject(apiVersion: string, pod: RunningPod, node: MeasuredNode | undefined): (PodMetrics & ApiObject)[] {
  const used = pod.containers.flatMap((container): [string, Usage][] => {
    const usage = node?.containers.get(containerKey(pod.namespace, pod.name, container));
    return usage === undefined ? [] : [[container, usage]];
  });
  const [first] = used;
  if (first === undefined) return [];
  const { timestamp, window } = measuredAt(first[1]);
  return [
    {
      kind: 'PodMetrics',
      apiVersion,
      metadata: { name: pod.name, namespace: pod.namespace, creationTimestamp: timestamp, labels: pod.labels },
      timestamp,
      window,
      containers: used.map(([name, usage]) => ({ name, usage: usageQuantities(usage) })),
    } as PodMetrics & ApiObject,
  ];
}

function total({ containers }: PodMetrics, resource: 'cpu' | 'memory'): string {
  const values = (containers ?? []).map(({ usage }) => usage?.[resource] ?? '0');
  return formatQuantity(values.reduce((sum, value) => addQuantities(sum, value), quantityOf('0')));
}
