import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type HorizontalPodAutoscaler as HpaV1,
  horizontalPodAutoscaler as hpaV1,
} from '../../../objects/apis/autoscaling/v1/horizontal-pod-autoscaler.types.js';
import {
  type HorizontalPodAutoscaler as Hpa,
  horizontalPodAutoscaler as hpaV2,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { MetricSpec, MetricStatus } from '../../../objects/apis/autoscaling/v2/metric.types.js';
import {
  type HorizontalPodAutoscaler as HpaV2beta1,
  horizontalPodAutoscaler as hpaV2beta1,
} from '../../../objects/apis/autoscaling/v2beta1/horizontal-pod-autoscaler.types.js';
import { horizontalPodAutoscaler as hpaV2beta2 } from '../../../objects/apis/autoscaling/v2beta2/horizontal-pod-autoscaler.types.js';
import { asVersion, deprecation } from '../../../objects/registry/definition/served-version.js';
import type { ServedVersion } from '../../../objects/registry/resource-definition.js';
import { cpuUtilizationOf, takeAnnotations, withAnnotations } from './hpa-annotations.js';
import { fromOldMetric, fromOldStatus, toOldMetric, toOldStatus } from './metric-conversion.js';

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
      return asVersion(hpaV1, {
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
      return asVersion(hpaV2, {
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
      return asVersion(hpaV2beta1, {
        metadata: withAnnotations(stored, ['behavior'], names),
        spec: { ...spec, metrics: spec.metrics?.map(toOldMetric) },
        status: { ...stored.status, currentMetrics: stored.status.currentMetrics?.map(toOldStatus) },
      });
    },
    toStored: (object) => {
      const { metadata, spec, status } = object as unknown as HpaV2beta1;
      const parts = takeAnnotations(metadata, names);
      return asVersion(hpaV2, {
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
    deprecated: deprecatedHpa(names, 'v2beta1', '1.22', '1.25'),
  };
}

/** `v2beta2`: the predecessor of `v2`. Tolerances came later; the annotation of the behaviour keeps them. */
export function servedV2beta2(names: VendorNames, applyDefaults: (object: ApiObject) => void): ServedVersion {
  return {
    version: 'v2beta2',
    type: hpaV2beta2,
    fromStored: (object) => {
      const stored = object as unknown as Hpa;
      const { scaleUp, scaleDown } = stored.spec.behavior ?? {};
      const isTolerant = scaleUp?.tolerance !== undefined || scaleDown?.tolerance !== undefined;
      return asVersion(hpaV2beta2, {
        ...stored,
        metadata: withAnnotations(stored, isTolerant ? ['behavior'] : [], names),
      });
    },
    toStored: (object) => {
      const { metadata, behavior: kept } = takeAnnotations(object.metadata as Hpa['metadata'], names);
      const converted = asVersion(hpaV2, { ...object, metadata });
      const { behavior } = (converted as unknown as Hpa).spec;
      for (const direction of ['scaleUp', 'scaleDown'] as const) {
        const rules = behavior?.[direction];
        const tolerance = kept?.[direction]?.tolerance;
        if (rules !== undefined && tolerance !== undefined) rules.tolerance = tolerance;
      }
      return converted;
    },
    applyDefaults,
    deprecated: deprecatedHpa(names, 'v2beta2', '1.23', '1.26'),
  };
}

function deprecatedHpa(names: VendorNames, version: string, since: string, removed: string) {
  const group = groupName('autoscaling', names);
  return deprecation({ group, version, kind: 'HorizontalPodAutoscaler', since, removed, replacement: 'v2' });
}

/** Default share of the requested cpu that pods should use. */
export const defaultCpuPercentage = 80;

/** The metric that the only metric field of `v1` stands for. */
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
