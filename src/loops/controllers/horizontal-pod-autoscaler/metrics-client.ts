import { quantityMilliValue } from '../../../base/machinery/values/quantity.js';
import type { PodMetric, PodMetrics } from './pod-metrics.js';
import type { MetricsApi, MetricsGroup } from './remote-metrics.js';

/** Which values of a metric are requested. */
export interface MetricQuery {
  readonly namespace: string;
  readonly metric: string;
  /** Restricts the series of the metric; empty: all. */
  readonly metricSelector: string;
  readonly signal: AbortSignal;
}

/** An object that a metric is about. */
export interface DescribedObject {
  /** `<plural>.<group>`. */
  readonly resource: string;
  readonly name: string;
  readonly isNamespace: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const defaultWindowMs = 60_000;
const seconds: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads values of the metrics APIs. All methods throw Errors whose messages are fit for conditions. */
export class MetricsClient {
  constructor(private readonly api: MetricsApi) {}

  /** The usage of a resource by each selected pod, or one of its containers. Pods without a value are left out. */
  async resource(
    namespace: string,
    selector: string,
    resource: string,
    container: string | undefined,
    signal: AbortSignal,
  ): Promise<PodMetrics> {
    const items = await this.items('metrics', ['namespaces', namespace, 'pods'], { labelSelector: selector }, 'pods', {
      failed: 'unable to fetch metrics from resource metrics API',
      empty: 'no metrics returned from resource metrics API',
      signal,
    });
    const metrics = new Map<string, PodMetric>();
    for (const item of items) {
      const name = textOf(fieldsOf(item.metadata).name);
      const containers = listOf(item.containers);
      if (container !== undefined && !containers.some((one) => one.name === container)) {
        throw new Error(`container ${container} not present in metrics for pod ${namespace}/${name}`);
      }
      const wanted = containers.filter((one) => container === undefined || one.name === container);
      const values = wanted.map((one) => fieldsOf(one.usage)[resource]);
      if (values.length === 0 || values.includes(undefined)) continue;
      const milli = values.reduce<number>((sum, value) => sum + milliOf(value), 0);
      metrics.set(name, { milli, at: timeOf(item.timestamp), windowMs: windowOf(item.window) });
    }
    return metrics;
  }

  /** The value of a metric of each selected pod. */
  async pods(selector: string, { namespace, metric, metricSelector, signal }: MetricQuery): Promise<PodMetrics> {
    const query = withoutEmpty({ labelSelector: selector, metricLabelSelector: metricSelector });
    const path = ['namespaces', namespace, 'pods', '*', metric];
    const items = await this.items('custom.metrics', path, query, 'pods', {
      failed: 'unable to fetch metrics from custom metrics API',
      empty: 'no metrics returned from custom metrics API',
      signal,
    });
    return new Map(
      items.map((item) => {
        const windowMs = typeof item.windowSeconds === 'number' ? item.windowSeconds * 1000 : defaultWindowMs;
        const value: PodMetric = { milli: milliOf(item.value), at: timeOf(item.timestamp), windowMs };
        return [textOf(fieldsOf(item.describedObject).name), value];
      }),
    );
  }

  /** The value of a metric of one object, in thousandths. */
  async object(
    { resource, name, isNamespace }: DescribedObject,
    { namespace, metric, metricSelector, signal }: MetricQuery,
  ): Promise<number> {
    const place = isNamespace ? ['namespaces', name, 'metrics'] : ['namespaces', namespace, resource, name];
    const query = withoutEmpty({ metricLabelSelector: metricSelector });
    const [first] = await this.items('custom.metrics', [...place, metric], query, resource, {
      failed: 'unable to fetch metrics from custom metrics API',
      empty: 'no metrics returned from custom metrics API',
      signal,
    });
    return milliOf(first?.value);
  }

  /** The sum of the values of a metric from outside, in thousandths. */
  async external({ namespace, metric, metricSelector, signal }: MetricQuery): Promise<number> {
    const query = withoutEmpty({ labelSelector: metricSelector });
    const items = await this.items('external.metrics', ['namespaces', namespace, metric], query, metric, {
      failed: 'unable to fetch metrics from external metrics API',
      empty: 'no metrics returned from external metrics API',
      signal,
    });
    return items.reduce((sum, { value }) => sum + milliOf(value), 0);
  }

  private async items(
    group: MetricsGroup,
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    resource: string,
    { failed, empty, signal }: { readonly failed: string; readonly empty: string; readonly signal: AbortSignal },
  ): Promise<readonly Fields[]> {
    let answer: unknown;
    try {
      answer = await this.api.get({ group, path, query, resource, signal });
    } catch (error) {
      throw new Error(`${failed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    const { items } = fieldsOf(answer);
    const list = listOf(items);
    if (list.length === 0) throw new Error(empty);
    return list;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function milliOf(value: unknown): number {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new Error('the metrics API answered without a value');
  return quantityMilliValue(String(value));
}

function timeOf(value: unknown): number {
  return Date.parse(textOf(value)) || 0;
}

/** Milliseconds of a duration such as `30s` or `1m30s`. */
function windowOf(value: unknown): number {
  const parts = [
    ...textOf(value)
      .slice(0, 50)
      .matchAll(/([\d.]+)(ms|h|m|s)/g),
  ];
  if (parts.length === 0) return defaultWindowMs;
  return parts.reduce((sum, [, number = '0', unit = 's']) => sum + Number(number) * (seconds[unit] ?? 0), 0);
}

function withoutEmpty(query: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
}
