import {
  always,
  duration,
  type Infer,
  kind,
  list,
  map,
  quantity,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const nodeMetrics = kind(
  { group: 'metrics', version: 'v1beta1', kind: 'NodeMetrics', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    timestamp: required(2, time, { doc: 'End of the measurement.' }),
    window: required(3, duration, { doc: 'Length of the measurement.' }),
    usage: required(4, map(quantity), { doc: 'Processors and memory that are in use.' }),
  },
  { doc: 'What is in use on a node.' },
);
export type NodeMetrics = Infer<typeof nodeMetrics>;

export const nodeMetricsList = listKind(nodeMetrics);
export type NodeMetricsList = Infer<typeof nodeMetricsList>;

export const containerMetrics = struct(
  'metrics.v1beta1.ContainerMetrics',
  {
    name: required(1, string, { doc: 'Name of the container in its pod.' }),
    usage: required(2, map(quantity), { doc: 'Processors and memory that it uses.' }),
  },
  { doc: 'What one container uses.' },
);
export type ContainerMetrics = Infer<typeof containerMetrics>;

export const podMetrics = kind(
  { group: 'metrics', version: 'v1beta1', kind: 'PodMetrics', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    timestamp: required(2, time, { doc: 'End of the measurement.' }),
    window: required(3, duration, { doc: 'Length of the measurement.' }),
    containers: required(4, list(containerMetrics), { doc: 'What each of its containers uses.' }),
  },
  { doc: 'What the containers of a pod use.' },
);
export type PodMetrics = Infer<typeof podMetrics>;

export const podMetricsList = listKind(podMetrics);
export type PodMetricsList = Infer<typeof podMetricsList>;
