import {
  type HorizontalPodAutoscaler as HpaV1,
  horizontalPodAutoscaler as hpaV1,
} from '../../../apis/autoscaling/v1/horizontal-pod-autoscaler.types.js';
import {
  type HorizontalPodAutoscaler as Hpa,
  horizontalPodAutoscaler as hpaV2,
} from '../../../apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { MetricSpec, MetricStatus } from '../../../apis/autoscaling/v2/metric.types.js';
import {
  type HorizontalPodAutoscaler as HpaV2beta1,
  horizontalPodAutoscaler as hpaV2beta1,
} from '../../../apis/autoscaling/v2beta1/horizontal-pod-autoscaler.types.js';
import { horizontalPodAutoscaler as hpaV2beta2 } from '../../../apis/autoscaling/v2beta2/horizontal-pod-autoscaler.types.js';
import type { ApiObject } from '../../../machinery/api-object.js';
import { decode, type KindType } from '../../../machinery/schema/index.js';
import type { VendorNames } from '../../../machinery/vendor.js';
import type { ServedVersion } from '../../../registry/resource-definition.js';
import { cpuUtilizationOf, takeAnnotations, withAnnotations } from './hpa-annotations.js';
import { fromOldMetric, fromOldStatus, toOldMetric, toOldStatus } from './metric-conversion.js';

/** Brings an object into the canonical form of a version that has the same fields, or fewer. */
function canonical(type: KindType, object: object): ApiObject {
  const { group, version, kind } = type.kind;
  return decode(type, { ...object, kind, apiVersion: `${group}/${version}` }).value as ApiObject;
}

/** `v1`: one target for cpu; the rest is in annotations. */
export function servedV1(names: VendorNames): ServedVersion {
  return {
    version: 'v1',
    type: hpaV1,
    fromStored: (object) => {
      const stored = object as unknown as Hpa;
      const { spec, status } = stored;
      const { scaleTargetRef, minReplicas, maxReplicas } = spec;
      const { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas } = status;
      return canonical(hpaV1, {
        metadata: withAnnotations(stored, ['metrics', 'current-metrics', 'conditions', 'behavior'], names),
        spec: {
          scaleTargetRef,
          minReplicas,
          maxReplicas,
          targetCPUUtilizationPercentage: first(spec.metrics ?? [], cpuUtilizationOf),
        },
        status: {
          observedGeneration,
          lastScaleTime,
          currentReplicas,
          desiredReplicas,
          currentCPUUtilizationPercentage: first(status.currentMetrics ?? [], currentCpuOf),
        },
      });
    },
    toStored: (object) => {
      const served = object as unknown as HpaV1;
      const { targetCPUUtilizationPercentage: target, ...spec } = served.spec;
      const { currentCPUUtilizationPercentage: current, ...status } = served.status;
      const parts = takeAnnotations(served.metadata, names);
      const metrics = [...(parts.metrics ?? [])];
      if (target !== undefined) metrics.push(cpuMetric(target));
      const currentMetrics = parts.currentMetrics ?? (current === undefined ? undefined : [currentCpu(current)]);
      return canonical(hpaV2, {
        metadata: parts.metadata,
        spec: { ...spec, metrics, behavior: parts.behavior },
        status: { ...status, currentMetrics, conditions: parts.conditions },
      });
    },
    applyDefaults: (object) => {
      const { spec, metadata } = object as unknown as HpaV1;
      spec.minReplicas ??= 1;
      const { metrics } = takeAnnotations(metadata, names);
      if (metrics === undefined || metrics.length === 0) spec.targetCPUUtilizationPercentage ??= defaultCpuPercentage;
    },
  };
}

/** `v2beta1`: the flat form of metrics; the behaviour is in an annotation. */
export function servedV2beta1(names: VendorNames): ServedVersion {
  return {
    version: 'v2beta1',
    type: hpaV2beta1,
    fromStored: (object) => {
      const stored = object as unknown as Hpa;
      const { behavior: _behavior, ...spec } = stored.spec;
      return canonical(hpaV2beta1, {
        metadata: withAnnotations(stored, ['behavior'], names),
        spec: { ...spec, metrics: spec.metrics?.map(toOldMetric) },
        status: { ...stored.status, currentMetrics: stored.status.currentMetrics?.map(toOldStatus) },
      });
    },
    toStored: (object) => {
      const { metadata, spec, status } = object as unknown as HpaV2beta1;
      const parts = takeAnnotations(metadata, names);
      return canonical(hpaV2, {
        metadata: parts.metadata,
        spec: { ...spec, metrics: spec.metrics?.map(fromOldMetric), behavior: parts.behavior },
        status: { ...status, currentMetrics: status.currentMetrics?.map(fromOldStatus) },
      });
    },
    applyDefaults: (object) => {
      const { spec } = object as unknown as HpaV2beta1;
      spec.minReplicas ??= 1;
      if ((spec.metrics ?? []).length === 0) spec.metrics = [toOldMetric(cpuMetric(defaultCpuPercentage))];
    },
  };
}

/** `v2beta2`: what `v2` was before. */
export function servedV2beta2(applyDefaults: (object: ApiObject) => void): ServedVersion {
  return {
    version: 'v2beta2',
    type: hpaV2beta2,
    fromStored: (object) => canonical(hpaV2beta2, object),
    toStored: (object) => canonical(hpaV2, object),
    applyDefaults,
  };
}

/** How much of the requested cpu pods should use when nobody says anything else. */
export const defaultCpuPercentage = 80;

/** The metric behind the one field of `v1`. */
export function cpuMetric(percentage: number): MetricSpec {
  return {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percentage } },
  };
}

function currentCpu(percentage: number): MetricStatus {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: percentage } } };
}

function currentCpuOf({ type, resource }: MetricStatus): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.current.averageUtilization : undefined;
}

function first<T>(items: readonly T[], value: (item: T) => number | undefined): number | undefined {
  for (const item of items) {
    const found = value(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
