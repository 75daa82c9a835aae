import {
  enumOf,
  type Infer,
  int32,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { resourceName } from '../../core/v1/resources.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const crossVersionObjectReference = struct('autoscaling.v2beta1.CrossVersionObjectReference', {
  kind: required(1, string),
  name: required(2, string),
  apiVersion: optional(3, string),
});
export type CrossVersionObjectReference = Infer<typeof crossVersionObjectReference>;

export const metricSourceType = enumOf('ContainerResource', 'External', 'Object', 'Pods', 'Resource');
export type MetricSourceType = Infer<typeof metricSourceType>;

export const objectMetricSource = struct('autoscaling.v2beta1.ObjectMetricSource', {
  target: required(1, crossVersionObjectReference),
  metricName: required(2, string),
  targetValue: required(3, quantity),
  selector: pointer(4, labelSelector),
  averageValue: pointer(5, quantity),
});
export type ObjectMetricSource = Infer<typeof objectMetricSource>;

export const podsMetricSource = struct('autoscaling.v2beta1.PodsMetricSource', {
  metricName: required(1, string),
  targetAverageValue: required(2, quantity),
  selector: pointer(3, labelSelector),
});
export type PodsMetricSource = Infer<typeof podsMetricSource>;

export const resourceMetricSource = struct('autoscaling.v2beta1.ResourceMetricSource', {
  name: required(1, resourceName),
  targetAverageUtilization: pointer(2, int32),
  targetAverageValue: pointer(3, quantity),
});
export type ResourceMetricSource = Infer<typeof resourceMetricSource>;

export const containerResourceMetricSource = struct('autoscaling.v2beta1.ContainerResourceMetricSource', {
  name: required(1, resourceName),
  targetAverageUtilization: pointer(2, int32),
  targetAverageValue: pointer(3, quantity),
  container: required(4, string),
});
export type ContainerResourceMetricSource = Infer<typeof containerResourceMetricSource>;

export const externalMetricSource = struct('autoscaling.v2beta1.ExternalMetricSource', {
  metricName: required(1, string),
  metricSelector: pointer(2, labelSelector),
  targetValue: pointer(3, quantity),
  targetAverageValue: pointer(4, quantity),
});
export type ExternalMetricSource = Infer<typeof externalMetricSource>;

export const metricSpec = struct('autoscaling.v2beta1.MetricSpec', {
  type: required(1, metricSourceType),
  object: pointer(2, objectMetricSource),
  pods: pointer(3, podsMetricSource),
  resource: pointer(4, resourceMetricSource),
  containerResource: pointer(7, containerResourceMetricSource),
  external: pointer(5, externalMetricSource),
});
export type MetricSpec = Infer<typeof metricSpec>;

export const objectMetricStatus = struct('autoscaling.v2beta1.ObjectMetricStatus', {
  target: required(1, crossVersionObjectReference),
  metricName: required(2, string),
  currentValue: required(3, quantity),
  selector: pointer(4, labelSelector),
  averageValue: pointer(5, quantity),
});
export type ObjectMetricStatus = Infer<typeof objectMetricStatus>;

export const podsMetricStatus = struct('autoscaling.v2beta1.PodsMetricStatus', {
  metricName: required(1, string),
  currentAverageValue: required(2, quantity),
  selector: pointer(3, labelSelector),
});
export type PodsMetricStatus = Infer<typeof podsMetricStatus>;

export const resourceMetricStatus = struct('autoscaling.v2beta1.ResourceMetricStatus', {
  name: required(1, resourceName),
  currentAverageUtilization: pointer(2, int32),
  currentAverageValue: required(3, quantity),
});
export type ResourceMetricStatus = Infer<typeof resourceMetricStatus>;

export const containerResourceMetricStatus = struct('autoscaling.v2beta1.ContainerResourceMetricStatus', {
  name: required(1, resourceName),
  currentAverageUtilization: pointer(2, int32),
  currentAverageValue: required(3, quantity),
  container: required(4, string),
});
export type ContainerResourceMetricStatus = Infer<typeof containerResourceMetricStatus>;

export const externalMetricStatus = struct('autoscaling.v2beta1.ExternalMetricStatus', {
  metricName: required(1, string),
  metricSelector: pointer(2, labelSelector),
  currentValue: required(3, quantity),
  currentAverageValue: pointer(4, quantity),
});
export type ExternalMetricStatus = Infer<typeof externalMetricStatus>;

export const metricStatus = struct('autoscaling.v2beta1.MetricStatus', {
  type: required(1, metricSourceType),
  object: pointer(2, objectMetricStatus),
  pods: pointer(3, podsMetricStatus),
  resource: pointer(4, resourceMetricStatus),
  containerResource: pointer(7, containerResourceMetricStatus),
  external: pointer(5, externalMetricStatus),
});
export type MetricStatus = Infer<typeof metricStatus>;
