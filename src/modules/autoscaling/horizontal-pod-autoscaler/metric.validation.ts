import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label, isPathSegmentName } from '../../../base/machinery/names.js';
import { quantitySign } from '../../../base/machinery/values/quantity.js';
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../../objects/apis/autoscaling/v2/metric.types.js';
import { checkText } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { checkPlainContainerResource } from '../../../objects/apis/core/v1/validation/resources.validation.js';

const sources = [
  ['Object', 'object'],
  ['External', 'external'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
] as const;
const metricTypes: readonly string[] = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const targetTypes: readonly string[] = ['Utilization', 'Value', 'AverageValue'];

/** Validates a reference to the scaled object, or to the object that a metric is about. */
export function validateTargetRef(
  { kind, name }: CrossVersionObjectReference,
  path: FieldPath,
  errors: FieldError[],
): void {
  checkSegment(kind, '', path.child('kind'), errors);
  checkSegment(name, '', path.child('name'), errors);
}

function checkSegment(value: string, missing: string, path: FieldPath, errors: FieldError[]): void {
  if (value === '') errors.push(required(path, missing));
  else for (const message of isPathSegmentName(value)) errors.push(invalid(path, value, message));
}

/** Validates the metrics of an autoscaler. */
export function validateMetrics(metrics: readonly MetricSpec[], path: FieldPath, errors: FieldError[]): void {
  metrics.forEach((metric, i) => {
    validateMetric(metric, path.index(i), errors);
  });
}

function validateMetric(metric: MetricSpec, path: FieldPath, errors: FieldError[]): void {
  const typePath = path.child('type');
  if (metric.type === '') errors.push(required(typePath, 'must specify a metric source type'));
  const own = sources.find(([type]) => type === metric.type)?.[1];
  if (own === undefined) {
    // The error is reported twice: for the type itself and for the missing source.
    const error = notSupported(typePath, metric.type, metricTypes);
    errors.push(error, error);
  }
  const given = sources.map(([, name]) => name).filter((name) => metric[name] !== undefined);
  const [first] = given;
  if (first !== undefined) validateSource(metric, first, path.child(first), errors);
  if (own !== undefined && metric[own] === undefined) {
    errors.push(required(path.child(own), 'must populate information for the given metric source'));
  }
  if (given.length < 2) return;
  for (const name of given) {
    if (name !== (own ?? first)) errors.push(forbidden(path.child(name), 'must populate the given metric source only'));
  }
}

function validateSource(
  metric: MetricSpec,
  name: (typeof sources)[number][1],
  path: FieldPath,
  errors: FieldError[],
): void {
  const { object, pods, resource, containerResource, external } = metric;
  const target = path.child('target');
  if (name === 'object' && object !== undefined) {
    validateTargetRef(object.describedObject, path.child('describedObject'), errors);
    validateIdentifier(object.metric, path.child('metric'), errors);
    validateTarget(object.target, target, errors);
    const hasNone = object.target.value === undefined && object.target.averageValue === undefined;
    if (hasNone) errors.push(required(target.child('averageValue'), 'must set either a target value or averageValue'));
  } else if (name === 'pods' && pods !== undefined) {
    validateIdentifier(pods.metric, path.child('metric'), errors);
    validateTarget(pods.target, target, errors);
    if (pods.target.averageValue === undefined) {
      errors.push(required(target.child('averageValue'), 'must specify a positive target averageValue'));
    }
  } else if (name === 'resource' && resource !== undefined) {
    if (resource.name === '') errors.push(required(path.child('name'), 'must specify a resource name'));
    validateTarget(resource.target, target, errors);
    validateResourceTarget(resource.target, target, errors);
  } else if (name === 'containerResource' && containerResource !== undefined) {
    if (containerResource.name === '') errors.push(required(path.child('name'), 'must specify a resource name'));
    else checkPlainContainerResource(containerResource.name, path.child('name'), errors);
    if (containerResource.container === '') {
      errors.push(required(path.child('container'), 'must specify a container'));
    } else checkText(containerResource.container, isDns1123Label, path.child('container'), errors);
    validateTarget(containerResource.target, target, errors);
    validateResourceTarget(containerResource.target, target, errors);
  } else if (external !== undefined) {
    validateIdentifier(external.metric, path.child('metric'), errors);
    validateTarget(external.target, target, errors);
    const { value, averageValue } = external.target;
    if (value === undefined && averageValue === undefined) {
      const detail = 'must set either a target value for metric or a per-pod target';
      errors.push(required(target.child('averageValue'), detail));
    } else if (value !== undefined && averageValue !== undefined) {
      const detail = 'may not set both a target value for metric and a per-pod target';
      errors.push(forbidden(target.child('value'), detail));
    }
  }
}

function validateResourceTarget(target: MetricTarget, path: FieldPath, errors: FieldError[]): void {
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = 'must set either a target raw value or a target utilization';
    errors.push(required(path.child('averageUtilization'), detail));
  } else if (averageUtilization !== undefined && averageValue !== undefined) {
    const detail = 'may not set both a target raw value and a target utilization';
    errors.push(forbidden(path.child('averageValue'), detail));
  }
}

function validateIdentifier({ name }: MetricIdentifier, path: FieldPath, errors: FieldError[]): void {
  checkSegment(name, 'must specify a metric name', path.child('name'), errors);
}

function validateTarget(target: MetricTarget, path: FieldPath, errors: FieldError[]): void {
  const { type, value, averageValue, averageUtilization } = target;
  const typePath = path.child('type');
  if (type === '') errors.push(required(typePath, 'must specify a metric target type'));
  if (!targetTypes.includes(type)) {
    errors.push(invalid(typePath, type, 'must be either Utilization, Value, or AverageValue'));
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'));
  }
  if (value !== undefined && quantitySign(value) !== 1) {
    errors.push(invalid(path.child('value'), value, 'must be positive'));
  }
  if (averageValue !== undefined && quantitySign(averageValue) !== 1) {
    errors.push(invalid(path.child('averageValue'), averageValue, 'must be positive'));
  }
}
