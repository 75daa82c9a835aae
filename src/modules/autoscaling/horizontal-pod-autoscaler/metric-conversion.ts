import type {
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../objects/apis/autoscaling/v2/metric.types.js';
import type {
  MetricSpec as OldMetricSpec,
  MetricStatus as OldMetricStatus,
} from '../../../objects/apis/autoscaling/v2beta1/metric.types.js';

/**
 * Metrics in the form of `v2beta1` and of the annotations of `v1`: flat, where the field that is set determines the
 * kind of target. Every function makes a new value and drops nothing that the other form can hold.
 */

interface OldTarget {
  targetAverageUtilization?: number;
  targetAverageValue?: string;
}

function oldTarget(target: MetricTarget): OldTarget {
  const old: OldTarget = {};
  if (target.averageUtilization !== undefined) old.targetAverageUtilization = target.averageUtilization;
  if (target.averageValue !== undefined) old.targetAverageValue = target.averageValue;
  return old;
}

function newTarget(old: OldTarget): MetricTarget {
  const target: MetricTarget = { type: old.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization' };
  if (old.targetAverageValue !== undefined) target.averageValue = old.targetAverageValue;
  if (old.targetAverageUtilization !== undefined) target.averageUtilization = old.targetAverageUtilization;
  return target;
}

/** A target that is a value, an average value, or (wrongly) both. */
function valueTarget(value: string | undefined, averageValue: string | undefined): MetricTarget {
  const target: MetricTarget = { type: averageValue === undefined ? 'Value' : 'AverageValue' };
  if (value !== undefined) target.value = value;
  if (averageValue !== undefined) target.averageValue = averageValue;
  return target;
}

type Identifier = { name: string; selector?: NonNullable<MetricSpec['pods']>['metric']['selector'] };

function identifier(name: string, selector: Identifier['selector']): NonNullable<MetricSpec['pods']>['metric'] {
  return selector === undefined ? { name } : { name, selector };
}

function selectorOf<S>(selector: S | undefined): { selector?: S } {
  return selector === undefined ? {} : { selector };
}

/** A metric in the flat form. */
export function toOldMetric(metric: MetricSpec): OldMetricSpec {
  const { type, resource, containerResource, pods, object, external } = metric;
  const old: OldMetricSpec = { type };
  if (object !== undefined) {
    const { value, averageValue } = object.target;
    old.object = {
      target: object.describedObject,
      metricName: object.metric.name,
      targetValue: value ?? '0',
      ...selectorOf(object.metric.selector),
      ...(averageValue === undefined ? {} : { averageValue }),
    };
  }
  if (pods !== undefined) {
    const { metric: id, target } = pods;
    old.pods = { metricName: id.name, targetAverageValue: target.averageValue ?? '0', ...selectorOf(id.selector) };
  }
  if (resource !== undefined) old.resource = { name: resource.name, ...oldTarget(resource.target) };
  if (containerResource !== undefined) {
    const { name, container, target } = containerResource;
    old.containerResource = { name, ...oldTarget(target), container };
  }
  if (external !== undefined) {
    const { name, selector } = external.metric;
    const { value, averageValue } = external.target;
    old.external = {
      metricName: name,
      ...(selector === undefined ? {} : { metricSelector: selector }),
      ...(value === undefined ? {} : { targetValue: value }),
      ...(averageValue === undefined ? {} : { targetAverageValue: averageValue }),
    };
  }
  return old;
}

/** A metric of the flat form. */
export function fromOldMetric(old: OldMetricSpec): MetricSpec {
  const { type, resource, containerResource, pods, object, external } = old;
  const metric: MetricSpec = { type };
  if (object !== undefined) {
    // The flat form always has a value; beside an average value, zero means none.
    const hasValue = object.averageValue === undefined || object.targetValue !== '0';
    metric.object = {
      describedObject: object.target,
      target: valueTarget(hasValue ? object.targetValue : undefined, object.averageValue),
      metric: identifier(object.metricName, object.selector),
    };
  }
  if (pods !== undefined) {
    metric.pods = {
      metric: identifier(pods.metricName, pods.selector),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
    };
  }
  if (resource !== undefined) metric.resource = { name: resource.name, target: newTarget(resource) };
  if (containerResource !== undefined) {
    const { name, container } = containerResource;
    metric.containerResource = { name, target: newTarget(containerResource), container };
  }
  if (external !== undefined) {
    metric.external = {
      metric: identifier(external.metricName, external.metricSelector),
      target: valueTarget(external.targetValue, external.targetAverageValue),
    };
  }
  return metric;
}

interface OldCurrent {
  currentAverageUtilization?: number;
  currentAverageValue: string;
}

function oldCurrent({ averageUtilization, averageValue }: MetricValueStatus): OldCurrent {
  const value = averageValue ?? '0';
  if (averageUtilization === undefined) return { currentAverageValue: value };
  return { currentAverageUtilization: averageUtilization, currentAverageValue: value };
}

function newCurrent(old: OldCurrent): MetricValueStatus {
  const current: MetricValueStatus = { averageValue: old.currentAverageValue };
  if (old.currentAverageUtilization !== undefined) current.averageUtilization = old.currentAverageUtilization;
  return current;
}

function valueStatus(value: string, averageValue: string | undefined): MetricValueStatus {
  if (averageValue === undefined) return { value };
  return value === '0' ? { averageValue } : { value, averageValue };
}

/** The state of a metric in the flat form. */
export function toOldStatus(status: MetricStatus): OldMetricStatus {
  const { type, resource, containerResource, pods, object, external } = status;
  const old: OldMetricStatus = { type };
  if (object !== undefined) {
    const { value, averageValue } = object.current;
    old.object = {
      target: object.describedObject,
      metricName: object.metric.name,
      currentValue: value ?? '0',
      ...selectorOf(object.metric.selector),
      ...(averageValue === undefined ? {} : { averageValue }),
    };
  }
  if (pods !== undefined) {
    const { metric: id, current } = pods;
    old.pods = { metricName: id.name, currentAverageValue: current.averageValue ?? '0', ...selectorOf(id.selector) };
  }
  if (resource !== undefined) old.resource = { name: resource.name, ...oldCurrent(resource.current) };
  if (containerResource !== undefined) {
    const { name, container, current } = containerResource;
    old.containerResource = { name, ...oldCurrent(current), container };
  }
  if (external !== undefined) {
    const { name, selector } = external.metric;
    const { value, averageValue } = external.current;
    old.external = {
      metricName: name,
      ...(selector === undefined ? {} : { metricSelector: selector }),
      currentValue: value ?? '0',
      ...(averageValue === undefined ? {} : { currentAverageValue: averageValue }),
    };
  }
  return old;
}

/** The state of a metric of the flat form. */
export function fromOldStatus(old: OldMetricStatus): MetricStatus {
  const { type, resource, containerResource, pods, object, external } = old;
  const status: MetricStatus = { type };
  if (object !== undefined) {
    status.object = {
      metric: identifier(object.metricName, object.selector),
      current: valueStatus(object.currentValue, object.averageValue),
      describedObject: object.target,
    };
  }
  if (pods !== undefined) {
    status.pods = {
      metric: identifier(pods.metricName, pods.selector),
      current: { averageValue: pods.currentAverageValue },
    };
  }
  if (resource !== undefined) status.resource = { name: resource.name, current: newCurrent(resource) };
  if (containerResource !== undefined) {
    const { name, container } = containerResource;
    status.containerResource = { name, current: newCurrent(containerResource), container };
  }
  if (external !== undefined) {
    status.external = {
      metric: identifier(external.metricName, external.metricSelector),
      current: valueStatus(external.currentValue, external.currentAverageValue),
    };
  }
  return status;
}
