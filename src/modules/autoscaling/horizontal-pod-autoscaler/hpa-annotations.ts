import { DecodeError, decode, type Infer, list, type SchemaType } from '../../../base/machinery/schema/index.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { HorizontalPodAutoscaler } from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import {
  horizontalPodAutoscalerBehavior,
  horizontalPodAutoscalerCondition,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { MetricSpec } from '../../../objects/apis/autoscaling/v2/metric.types.js';
import { metricSpec, metricStatus } from '../../../objects/apis/autoscaling/v2beta1/metric.types.js';
import { fromOldMetric, fromOldStatus, toOldMetric, toOldStatus } from './metric-conversion.js';

/**
 * Old versions have no fields for some values. They keep them in annotations, as JSON: `metrics`, `current-metrics` and
 * `conditions` (`v1`), `behavior` (`v1`, `v2beta1`).
 */
export type HpaAnnotation = 'metrics' | 'current-metrics' | 'conditions' | 'behavior';

type Metadata = HorizontalPodAutoscaler['metadata'];
type Behavior = NonNullable<HorizontalPodAutoscaler['spec']['behavior']>;

const metricList = list(metricSpec);
const metricStatusList = list(metricStatus);
const conditionList = list(horizontalPodAutoscalerCondition);

function keyOf(name: HpaAnnotation, names: VendorNames): string {
  return `autoscaling.alpha.${names.labelPrefix}/${name}`;
}

/** The metadata with annotations for values that an old version can't show. Makes new metadata if it adds any. */
export function withAnnotations(
  object: HorizontalPodAutoscaler,
  kept: readonly HpaAnnotation[],
  names: VendorNames,
): Metadata {
  const added: Record<string, string> = {};
  for (const name of kept) {
    const text = encode(object, name);
    if (text !== undefined) added[keyOf(name, names)] = text;
  }
  if (Object.keys(added).length === 0) return object.metadata;
  return { ...object.metadata, annotations: { ...object.metadata.annotations, ...added } };
}

function encode({ spec, status }: HorizontalPodAutoscaler, name: HpaAnnotation): string | undefined {
  switch (name) {
    case 'metrics': {
      const metrics = spec.metrics ?? [];
      const shown = metrics.find((metric) => cpuUtilizationOf(metric) !== undefined);
      const others = metrics.filter((metric) => metric !== shown);
      return others.length === 0 ? undefined : JSON.stringify(others.map(toOldMetric));
    }
    case 'current-metrics': {
      const metrics = status.currentMetrics ?? [];
      return metrics.length === 0 ? undefined : JSON.stringify(metrics.map(toOldStatus));
    }
    case 'conditions': {
      const conditions = status.conditions ?? [];
      return conditions.length === 0 ? undefined : JSON.stringify(conditions);
    }
    case 'behavior':
      return spec.behavior === undefined ? undefined : JSON.stringify(shownBehavior(spec.behavior));
  }
}

/** The target of the one metric for which `v1` has a field; undefined for other metrics. */
export function cpuUtilizationOf({ type, resource }: MetricSpec): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.target.averageUtilization : undefined;
}

/** The values in annotations, and the metadata without them. Annotations that can't be parsed count as absent. */
export interface AnnotatedParts {
  readonly metadata: Metadata;
  readonly metrics: HorizontalPodAutoscaler['spec']['metrics'];
  readonly currentMetrics: HorizontalPodAutoscaler['status']['currentMetrics'] | undefined;
  readonly conditions: HorizontalPodAutoscaler['status']['conditions'];
  readonly behavior: Behavior | undefined;
}

/** Splits the annotations of old versions from metadata. Changes nothing. */
export function takeAnnotations(metadata: Metadata, names: VendorNames): AnnotatedParts {
  const annotations = { ...metadata.annotations };
  const take = (name: HpaAnnotation): unknown => {
    const key = keyOf(name, names);
    const text = annotations[key];
    delete annotations[key];
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  };
  const metrics = tryDecode(metricList, take('metrics'));
  const current = tryDecode(metricStatusList, take('current-metrics'));
  const conditions = tryDecode(conditionList, take('conditions'));
  const behavior = tryDecode(horizontalPodAutoscalerBehavior, renameKeys(take('behavior'), lowerFirst));
  const rest: Metadata = { ...metadata, annotations };
  if (Object.keys(annotations).length === 0) delete rest.annotations;
  return {
    metadata: rest,
    metrics: metrics?.map(fromOldMetric),
    currentMetrics: current?.map(fromOldStatus),
    conditions,
    behavior,
  };
}

function tryDecode<S extends SchemaType>(type: S, value: unknown): Infer<S> | undefined {
  if (value === undefined || value === null) return undefined;
  try {
    return decode(type, value).value;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** The scaling behaviour with all its fields, which are null where they are not set. */
function shownBehavior({ scaleUp, scaleDown }: Behavior): unknown {
  return { ScaleUp: shownRules(scaleUp), ScaleDown: shownRules(scaleDown) };
}

function shownRules(rules: Behavior['scaleUp']): unknown {
  if (rules === undefined) return null;
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies:
      rules.policies?.map(({ type, value, periodSeconds }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })) ?? null,
    Tolerance: rules.tolerance ?? null,
  };
}

function lowerFirst(key: string): string {
  return key.charAt(0).toLowerCase() + key.slice(1);
}

/** The annotation of the scaling behaviour spells field names with a capital letter. */
function renameKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renameKeys(item, rename)]));
}
