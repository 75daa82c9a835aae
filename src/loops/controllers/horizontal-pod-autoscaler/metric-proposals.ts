import { formatLabelSelector } from '../../../base/machinery/label-selector.js';
import { formatQuantity, quantityMilliValue } from '../../../base/machinery/values/quantity.js';
import type { HPAScalingRules } from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type {
  ExternalMetricSource,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
} from '../../../objects/apis/autoscaling/v2/metric.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { errorMessage } from '../frame/refusals.js';
import { MetricFault } from './metric-fault.js';
import type { DescribedObject, MetricsClient } from './metrics-client.js';
import {
  replicasByAverage,
  replicasByShare,
  replicasByUtilization,
  replicasByValue,
  type ScaledPods,
  type Tolerances,
} from './replica-count.js';

/** The inputs for computing a metric. */
export interface ProposalRequest extends ScaledPods {
  readonly namespace: string;
  /** The selector of the target, as a string. */
  readonly selector: string;
  /** Replicas that the target has, by its status. */
  readonly statusReplicas: number;
  readonly signal: AbortSignal;
}

/** How many replicas one metric requests. */
export interface Proposal {
  readonly replicas: number;
  /** The metric, in words. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** The tolerances of the rules, or else `tolerance`. */
export function tolerancesOf(up: HPAScalingRules | undefined, down: HPAScalingRules | undefined, tolerance: number) {
  const of = (rules: HPAScalingRules | undefined) =>
    rules?.tolerance === undefined ? tolerance : quantityMilliValue(rules.tolerance) / 1000;
  return { up: of(up), down: of(down) } satisfies Tolerances;
}

/** Computes how many replicas metrics request. */
export class MetricProposals {
  constructor(
    private readonly client: MetricsClient,
    /** The resource of the object that a metric describes. */
    private readonly describe: (reference: ObjectMetricSource['describedObject']) => DescribedObject,
  ) {}

  /** @throws MetricFault */
  async of(metric: MetricSpec, request: ProposalRequest): Promise<Proposal> {
    const { type, resource, containerResource, pods, object, external } = metric;
    if (type === 'Resource' && resource !== undefined) {
      return faulty('FailedGetResourceMetric', `failed to get ${resource.name} resource metric value`, async () => {
        const { current, ...counted } = await this.resource(resource.name, resource.target, undefined, request);
        return { ...counted, status: { type, resource: { name: resource.name, current } } };
      });
    }
    if (type === 'ContainerResource' && containerResource !== undefined) {
      const { name, container, target } = containerResource;
      const failed = `failed to get ${name} container metric value`;
      return faulty('FailedGetContainerResourceMetric', failed, async () => {
        const { current, ...counted } = await this.resource(name, target, container, request);
        return { ...counted, status: { type, containerResource: { name, container, current } } };
      });
    }
    if (type === 'Pods' && pods !== undefined) {
      return faulty('FailedGetPodsMetric', 'failed to get pods metric value', () => this.pods(pods, request));
    }
    if (type === 'Object' && object !== undefined) {
      return faulty('FailedGetObjectMetric', 'failed to get object metric value', () => this.object(object, request));
    }
    if (type === 'External' && external !== undefined) {
      const failed = `failed to get ${external.metric.name} external metric value`;
      return faulty('FailedGetExternalMetric', failed, () => this.external(external, request));
    }
    throw new MetricFault('InvalidMetricSourceType', `unknown metric source type "${type}"`);
  }

  private async resource(name: string, target: MetricTarget, container: string | undefined, request: ProposalRequest) {
    const { namespace, selector, signal, pods } = request;
    const kind = container === undefined ? 'resource' : 'container resource';
    const isAverage = target.averageValue !== undefined;
    return wrapped(`failed to get ${name} ${isAverage ? 'usage' : 'utilization'}`, async () => {
      const metrics = await wrapped(`unable to get metrics for resource ${name}`, () =>
        this.client.resource(namespace, selector, name, container, signal),
      );
      if (target.averageValue !== undefined) {
        const wanted = quantityMilliValue(target.averageValue);
        const { replicas, averageMilli } = replicasByAverage(request, metrics, wanted, name === 'cpu');
        return { replicas, name: `${name} ${kind}`, current: { averageValue: milliText(averageMilli) } };
      }
      if (target.averageUtilization === undefined) {
        throw new Error('invalid resource metric source: neither an average utilization nor an average value was set');
      }
      const requests = podRequests(pods, name, container);
      const counted = replicasByUtilization(request, metrics, requests, target.averageUtilization, name === 'cpu');
      return {
        replicas: counted.replicas,
        name: `${name} ${kind} utilization (percentage of request)`,
        current: { averageUtilization: counted.utilization, averageValue: milliText(counted.averageMilli) },
      };
    });
  }

  private async pods({ metric, target }: PodsMetricSource, request: ProposalRequest): Promise<Proposal> {
    const query = queryOf(metric, request);
    const metrics = await wrapped(`unable to get metric ${metric.name}`, () =>
      this.client.pods(request.selector, query),
    );
    const { replicas, averageMilli } = replicasByAverage(
      request,
      metrics,
      quantityMilliValue(target.averageValue ?? '0'),
      false,
    );
    const current = { averageValue: milliText(averageMilli) };
    return { replicas, name: `pods metric ${metric.name}`, status: { type: 'Pods', pods: { metric, current } } };
  }

  private async object(
    { describedObject, metric, target }: ObjectMetricSource,
    request: ProposalRequest,
  ): Promise<Proposal> {
    const { kind, name: objectName } = describedObject;
    const value = await wrapped(
      `unable to get metric ${metric.name}: ${kind} on ${request.namespace} ${objectName}`,
      () => this.client.object(this.describe(describedObject), queryOf(metric, request)),
    );
    const { replicas, current } = byTotal(value, target, request);
    const status: MetricStatus = { type: 'Object', object: { metric, describedObject, current } };
    return { replicas, name: `${kind} metric ${metric.name}`, status };
  }

  private async external({ metric, target }: ExternalMetricSource, request: ProposalRequest): Promise<Proposal> {
    const query = queryOf(metric, request);
    const value = await wrapped(`unable to get external metric ${request.namespace}/${metric.name}`, () =>
      this.client.external(query),
    );
    const { replicas, current } = byTotal(value, target, request);
    const name = `external metric ${metric.name}(${query.metricSelector})`;
    return { replicas, name, status: { type: 'External', external: { metric, current } } };
  }
}

/** The number of replicas for a value that is not measured for each pod. */
function byTotal(milli: number, target: MetricTarget, request: ProposalRequest) {
  if (target.averageValue !== undefined) {
    const wanted = quantityMilliValue(target.averageValue);
    const { replicas, averageMilli } = replicasByShare(request.tolerances, milli, wanted, request.statusReplicas);
    return { replicas, current: { averageValue: milliText(averageMilli) } };
  }
  if (target.value === undefined) throw new Error('neither a value nor an average value was set as the target');
  return {
    replicas: replicasByValue(request, milli, quantityMilliValue(target.value)),
    current: { value: milliText(milli) },
  };
}

function queryOf(metric: PodsMetricSource['metric'], { namespace, signal }: ProposalRequest) {
  const metricSelector = formatLabelSelector(metric.selector);
  return { namespace, metric: metric.name, metricSelector, signal };
}

/** What each pod, or one of its containers, requests of a resource, in thousandths. */
function podRequests(pods: readonly StoredPod[], resource: string, container: string | undefined): Map<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const { name = '' } = metadata;
    let sum = 0;
    const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    const counted = [...(spec.containers ?? []), ...sidecars].filter(
      (one) => container === undefined || one.name === container,
    );
    for (const one of counted) {
      const request = one.resources?.requests?.[resource];
      if (request === undefined)
        throw new Error(`missing request for ${resource} in container ${one.name} of Pod ${name}`);
      sum += quantityMilliValue(request);
    }
    if (container !== undefined && counted.length === 0) {
      throw new Error(`container ${container} not found in Pod ${name}`);
    }
    requests.set(name, sum);
  }
  return requests;
}

function milliText(milli: number): string {
  return formatQuantity({ unscaled: BigInt(Math.trunc(milli)), scale: -3, format: 'DecimalSI' });
}

/** Puts the context before the message of an error. */
async function wrapped<T>(text: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${text}: ${errorMessage(error)}`, { cause: error });
  }
}

async function faulty(reason: string, text: string, work: () => Promise<Proposal>): Promise<Proposal> {
  try {
    return await work();
  } catch (error) {
    throw new MetricFault(reason, errorMessage(error), text);
  }
}
