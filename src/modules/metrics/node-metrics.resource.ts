import type { ApiObject } from '../../base/machinery/api-object.js';
import type { MeasurableNode, NodeUsage } from '../../base/machinery/node-usage.js';
import { serviceUnavailableError } from '../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { type NodeMetrics, nodeMetrics } from '../../objects/apis/metrics/v1beta1/resource-metrics.types.js';
import { nameColumn } from '../../objects/registry/definition/default-columns.js';
import { defineComputedResource, type ResourceDefinition } from '../../objects/registry/resource-definition.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { readMetricPages } from './read-pages.js';
import { measuredAt, usageQuantities } from './usage-values.js';

/** `nodes.metrics`: CPU and memory in use on the nodes whose agents answer. */
export function nodeMetricsResource(
  names: VendorNames,
  stores: ResourceStores,
  measure: NodeUsage | undefined,
): ResourceDefinition {
  const group = groupName('metrics', names);
  return defineComputedResource<NodeMetrics & ApiObject>({
    group,
    resource: 'nodes',
    singular: '',
    kind: 'NodeMetrics',
    namespaced: false,
    versions: [{ version: 'v1beta1', type: nodeMetrics, isOnlyByName: true }],
    columns: [
      nameColumn,
      { name: 'CPU', type: 'string', description: 'Processors in use.', cell: ({ usage }) => usage?.cpu ?? '' },
      { name: 'Memory', type: 'string', description: 'Memory in use.', cell: ({ usage }) => usage?.memory ?? '' },
      { name: 'Window', type: 'string', description: 'Length of the measurement.', cell: ({ window }) => window },
    ],
    compute: async ({ name, wants, signal }) => {
      if (measure === undefined) throw serviceUnavailableError('this process does not reach nodes');
      const nodes: ApiObject[] = [];
      for await (const page of readMetricPages(stores.named('', 'nodes'), undefined)) {
        nodes.push(...page.filter((node) => (name === undefined || node.metadata.name === name) && wants(node)));
      }
      const measured = await measure.of(nodes as readonly (ApiObject & MeasurableNode)[], signal);
      return nodes.flatMap(({ metadata }) => {
        const total = measured.get(metadata.name ?? '')?.total;
        return total === undefined ? [] : [nodeObject(`${group}/v1beta1`, metadata, total)];
      });
    },
  });
}

function nodeObject(
  apiVersion: string,
  { name, labels }: ApiObject['metadata'],
  total: Parameters<typeof usageQuantities>[0],
): NodeMetrics & ApiObject {
  const { timestamp, window } = measuredAt(total);
  return {
    kind: 'NodeMetrics',
    apiVersion,
    metadata: { name, creationTimestamp: timestamp, labels },
    timestamp,
    window,
    usage: usageQuantities(total),
  } as NodeMetrics & ApiObject;
}
