import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const resourceName = 'Name of the resource, such as cpu.';
const metric = 'Which metric it is.';
const target = 'Value to aim at.';
const current = 'Value found last.';
const metricName = 'Name of the metric.';
const metricSelector = 'Narrows the metric by labels.';
const container = 'Name of the container in the pods.';
const targetAverageUtilization = 'Wanted average use, in percent of the requests.';
const targetAverageValue = 'Wanted average over the pods.';
const currentAverageUtilization = 'Average use found, in percent of the requests.';
const currentAverageValue = 'Average over the pods that was found.';
const source = {
  type: 'Which of the sources is set: ContainerResource, External, Object, Pods or Resource.',
  object: 'A metric of one object, such as requests of an ingress.',
  pods: 'A metric of every pod, averaged.',
  resource: 'Use of a resource by whole pods.',
  containerResource: 'Use of a resource by one container of each pod.',
  external: 'A metric from outside the cluster.',
};
const resourceSource = { name: resourceName, target, targetAverageUtilization, targetAverageValue };
const resourceStatus = { name: resourceName, current, currentAverageUtilization, currentAverageValue };

/** Descriptions of the group `autoscaling`. */
export const autoscalingDescriptions: FieldDescriptions = {
  'autoscaling.CrossVersionObjectReference': {
    '': 'Points to an object by kind and name.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
    apiVersion: 'Group and version of the object.',
  },
  'autoscaling.HorizontalPodAutoscalerSpec': { '': 'What is scaled, by which metrics and within which bounds.' },
  'autoscaling.HorizontalPodAutoscalerStatus': { '': 'Numbers and metrics found last.' },
  'autoscaling.ScaleSpec': { '': 'The wanted number.' },
  'autoscaling.ScaleStatus': { '': 'The present number.' },
  'autoscaling.ContainerResourceMetricSource': { '': source.containerResource, ...resourceSource, container },
  'autoscaling.ContainerResourceMetricStatus': { '': 'Use found in one container.', ...resourceStatus, container },
  'autoscaling.ExternalMetricSource': {
    '': source.external,
    metric,
    target,
    metricName,
    metricSelector,
    targetValue: 'Wanted value of the metric.',
    targetAverageValue,
  },
  'autoscaling.ExternalMetricStatus': {
    '': 'Value found outside the cluster.',
    metric,
    current,
    metricName,
    metricSelector,
    currentValue: 'Value of the metric that was found.',
    currentAverageValue,
  },
  'autoscaling.HPAScalingPolicy': {
    '': 'How much may change within some time.',
    type: 'Whether value counts Pods or is a Percent of them.',
    value: 'Largest change; above 0.',
    periodSeconds: 'Length of the time, in seconds; 1 to 1800.',
  },
  'autoscaling.HPAScalingRules': {
    '': 'How fast the number may change in one direction.',
    stabilizationWindowSeconds: 'How far back recommendations count, in seconds; 0 to 3600.',
    selectPolicy: 'Which policy holds: Max (default), Min, or Disabled for no change.',
    policies: 'Limits, of which one is chosen by selectPolicy.',
    tolerance: 'Deviation from the target that changes nothing; 0.1 is ten percent.',
  },
  'autoscaling.HorizontalPodAutoscalerBehavior': {
    '': 'How fast the number may change.',
    scaleUp: 'Rules for more pods.',
    scaleDown: 'Rules for fewer pods; by default the last 300 seconds count.',
  },
  'autoscaling.MetricIdentifier': { '': 'Names a metric.', name: metricName, selector: metricSelector },
  'autoscaling.MetricSpec': { '': 'One metric, and the value to aim at.', ...source },
  'autoscaling.MetricStatus': { '': 'One metric, and the value found last.', ...source },
  'autoscaling.MetricTarget': {
    '': 'Value that the number of pods is adjusted to.',
    type: 'Which of the values is set: AverageValue, Utilization or Value.',
    value: 'Value of the metric as a whole.',
    averageValue: 'Average over the pods.',
    averageUtilization: 'Average use in percent of the requests; for resources only.',
  },
  'autoscaling.MetricValueStatus': {
    '': 'Value of a metric.',
    value: 'Value as a whole.',
    averageValue: 'Average over the pods.',
    averageUtilization: 'Average use in percent of the requests; for resources only.',
  },
  'autoscaling.ObjectMetricSource': {
    '': source.object,
    describedObject: 'The object that is measured.',
    target: 'Value to aim at; in v2beta1 the object that is measured.',
    metric,
    metricName,
    targetValue: 'Wanted value of the metric.',
    selector: metricSelector,
    averageValue: targetAverageValue,
  },
  'autoscaling.ObjectMetricStatus': {
    '': 'Value found for one object.',
    metric,
    current,
    describedObject: 'The object that is measured.',
    target: 'The object that is measured.',
    metricName,
    currentValue: 'Value of the metric that was found.',
    selector: metricSelector,
    averageValue: currentAverageValue,
  },
  'autoscaling.PodsMetricSource': {
    '': source.pods,
    metric,
    target,
    metricName,
    targetAverageValue,
    selector: metricSelector,
  },
  'autoscaling.PodsMetricStatus': {
    '': 'Average found over the pods.',
    metric,
    current,
    metricName,
    currentAverageValue,
    selector: metricSelector,
  },
  'autoscaling.ResourceMetricSource': { '': source.resource, ...resourceSource },
  'autoscaling.ResourceMetricStatus': { '': 'Use found in whole pods.', ...resourceStatus },
};
