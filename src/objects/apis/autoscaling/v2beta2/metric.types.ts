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

export const crossVersionObjectReference = struct('autoscaling.v2beta2.CrossVersionObjectReference', {
  kind: required(1, string),
  name: required(2, string),
  apiVersion: optional(3, string),
});
export type CrossVersionObjectReference = Infer<typeof crossVersionObjectReference>;

export const metricSourceType = enumOf('ContainerResource', 'External', 'Object', 'Pods', 'Resource');
export type MetricSourceType = Infer<typeof metricSourceType>;

export const metricTargetType = enumOf('AverageValue', 'Utilization', 'Value');
export type MetricTargetType = Infer<typeof metricTargetType>;

export const metricTarget = struct('autoscaling.v2beta2.MetricTarget', {
  type: required(1, metricTargetType),
  value: pointer(2, quantity),
  averageValue: pointer(3, quantity),
  averageUtilization: pointer(4, int32),
});
export type MetricTarget = Infer<typeof metricTarget>;

export const metricIdentifier = struct('autoscaling.v2beta2.MetricIdentifier', {
  name: required(1, string),
  selector: pointer(2, labelSelector),
});
export type MetricIdentifier = Infer<typeof metricIdentifier>;

export const objectMetricSource = struct('autoscaling.v2beta2.ObjectMetricSource', {
  describedObject: required(1, crossVersionObjectReference),
  target: required(2, metricTarget),
  metric: required(3, metricIdentifier),
});
export type ObjectMetricSource = Infer<typeof objectMetricSource>;

export const podsMetricSource = struct('autoscaling.v2beta2.PodsMetricSource', {
  metric: required(1, metricIdentifier),
  target: required(2, metricTarget),
});
export type PodsMetricSource = Infer<typeof podsMetricSource>;

export const resourceMetricSource = struct('autoscaling.v2beta2.ResourceMetricSource', {
  name: required(1, resourceName),
  target: required(2, metricTarget),
});
export type ResourceMetricSource = Infer<typeof resourceMetricSource>;

export const containerResourceMetricSource = struct('autoscaling.v2beta2.ContainerResourceMetricSource', {
  name: required(1, resourceName),
  target: required(2, metricTarget),
  container: required(3, string),
});
export type ContainerResourceMetricSource = Infer<typeof containerResourceMetricSource>;

export const externalMetricSource = struct('autoscaling.v2beta2.ExternalMetricSource', {
  metric: required(1, metricIdentifier),
  target: required(2, metricTarget),
});
export type ExternalMetricSource = Infer<typeof externalMetricSource>;

export const metricSpec = struct('autoscaling.v2beta2.MetricSpec', {
  type: required(1, metricSourceType),
  object: pointer(2, objectMetricSource),
  pods: pointer(3, podsMetricSource),
  resource: pointer(4, resourceMetricSource),
  containerResource: pointer(7, containerResourceMetricSource),
  external: pointer(5, externalMetricSource),
});
export type MetricSpec = Infer<typeof metricSpec>;

export const metricValueStatus = struct('autoscaling.v2beta2.MetricValueStatus', {
  value: pointer(1, quantity),
  averageValue: pointer(2, quantity),
  averageUtilization: pointer(3, int32),
});
export type MetricValueStatus = Infer<typeof metricValueStatus>;

export const objectMetricStatus = struct('autoscaling.v2beta2.ObjectMetricStatus', {
  metric: required(1, metricIdentifier),
  current: required(2, metricValueStatus),
  describedObject: required(3, crossVersionObjectReference),
});
export type ObjectMetricStatus = Infer<typeof objectMetricStatus>;

export const podsMetricStatus = struct('autoscaling.v2beta2.PodsMetricStatus', {
  metric: required(1, metricIdentifier),
  current: required(2, metricValueStatus),
});
export type PodsMetricStatus = Infer<typeof podsMetricStatus>;

export const resourceMetricStatus = struct('autoscaling.v2beta2.ResourceMetricStatus', {
  name: required(1, resourceName),
  current: required(2, metricValueStatus),
});
export type ResourceMetricStatus = Infer<typeof resourceMetricStatus>;

export const containerResourceMetricStatus = struct('autoscaling.v2beta2.ContainerResourceMetricStatus', {
  name: required(1, resourceName),
  current: required(2, metricValueStatus),
  container: required(3, string),
});
export type ContainerResourceMetricStatus = Infer<typeof containerResourceMetricStatus>;

export const externalMetricStatus = struct('autoscaling.v2beta2.ExternalMetricStatus', {
  metric: required(1, metricIdentifier),
  current: required(2, metricValueStatus),
});
export type ExternalMetricStatus = Infer<typeof externalMetricStatus>;

export const metricStatus = struct('autoscaling.v2beta2.MetricStatus', {
  type: required(1, metricSourceType),
  object: pointer(2, objectMetricStatus),
  pods: pointer(3, podsMetricStatus),
  resource: pointer(4, resourceMetricStatus),
  containerResource: pointer(7, containerResourceMetricStatus),
  external: pointer(5, externalMetricStatus),
});
export type MetricStatus = Infer<typeof metricStatus>;
