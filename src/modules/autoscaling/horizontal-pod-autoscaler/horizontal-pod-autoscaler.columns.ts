import type { HorizontalPodAutoscaler } from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { MetricSpec, MetricStatus } from '../../../objects/apis/autoscaling/v2/metric.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

const unknownValue = '<unknown>';
const shownMetrics = 2;

/** Current value and target of the first two metrics: `30m/100Mi, cpu: 12%/80% + 1 more...`. */
function targetsOf({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const current = status.currentMetrics ?? [];
  const texts = metrics.slice(0, shownMetrics).map((metric, i) => metricText(metric, current[i]));
  const hidden = metrics.length - texts.length;
  return hidden > 0 ? `${texts.join(', ')} + ${hidden} more...` : texts.join(', ');
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external, status?.external);
    case 'Object':
      return valueText(metric.object, status?.object);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? unknownValue}/${metric.pods?.target.averageValue ?? unknownValue}`;
    case 'Resource':
      return `${metric.resource?.name}: ${resourceText(metric.resource, status?.resource)}`;
    case 'ContainerResource':
      return `${metric.containerResource?.name}: ${resourceText(metric.containerResource, status?.containerResource)}`;
    default:
      return '<unknown type>';
  }
}

/** The fields that object metrics and external metrics share. */
interface ValueSource {
  readonly target: Readonly<{ value?: string; averageValue?: string }>;
}

interface ValueStatus {
  readonly current: Readonly<{ value?: string; averageValue?: string }>;
}

function valueText(source: ValueSource | undefined, status: ValueStatus | undefined): string {
  const average = source?.target.averageValue;
  if (average !== undefined) return `${status?.current.averageValue ?? unknownValue}/${average} (avg)`;
  return `${status?.current.value ?? unknownValue}/${source?.target.value ?? unknownValue}`;
}

function resourceText(
  source: Pick<NonNullable<MetricSpec['resource']>, 'target'> | undefined,
  status: Pick<NonNullable<MetricStatus['resource']>, 'current'> | undefined,
): string {
  const { averageValue, averageUtilization } = source?.target ?? {};
  if (averageValue !== undefined) return `${status?.current.averageValue ?? unknownValue}/${averageValue}`;
  const used = status?.current.averageUtilization;
  const wanted = averageUtilization === undefined ? '<auto>' : `${averageUtilization}%`;
  return `${used === undefined ? unknownValue : `${used}%`}/${wanted}`;
}

export const horizontalPodAutoscalerColumns: readonly TableColumn<HorizontalPodAutoscaler>[] = [
  nameColumn,
  {
    name: 'Reference',
    type: 'string',
    description: 'The object that is scaled.',
    cell: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
  },
  {
    name: 'Targets',
    type: 'string',
    description: 'Present and wanted value of each metric.',
    cell: targetsOf,
  },
  {
    name: 'MinPods',
    type: 'string',
    description: 'Fewest pods it scales down to.',
    cell: ({ spec }) => (spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
  },
  {
    name: 'MaxPods',
    type: 'string',
    description: 'Most pods it scales up to.',
    cell: ({ spec }) => spec.maxReplicas,
  },
  {
    name: 'Replicas',
    type: 'string',
    description: 'Pods there are.',
    cell: ({ status }) => status.currentReplicas ?? 0,
  },
  ageColumn,
];
