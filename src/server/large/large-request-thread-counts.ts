import type { Metric, Registry } from 'prom-client';
import { addUp, type MetricFamilies } from '../../base/observability/metrics.js';

/**
 * The metrics that only the thread can count: admission, and calls to other servers. The process counts everything else
 * itself.
 */
const countedInThread = /^(?:apiserver_(?:(?:validating_|mutating_)?admission)_|pod_security_|rest_client_)/;

/** The metrics of the thread so far. */
export function threadCountsOf(registry: Registry): Promise<MetricFamilies> {
  const metrics = registry.getMetricsAsArray() as unknown as readonly (Metric & { readonly name: string })[];
  const families = metrics.filter(({ name }) => countedInThread.test(name)).map((metric) => metric.get());
  return Promise.all(families) as unknown as Promise<MetricFamilies>;
}

/** Adds up the metrics of successive threads. */
export class LargeRequestThreadCounts {
  private ofEnded: MetricFamilies = [];
  private ofCurrent: MetricFamilies = [];

  /** Replaces the metrics of the current thread, which count from its start. */
  add(counts: MetricFamilies): void {
    this.ofCurrent = counts;
  }

  /** Called when the current thread has ended: the next one starts at zero. */
  async threadEnded(): Promise<void> {
    const { ofEnded, ofCurrent } = this;
    if (ofCurrent.length === 0) return;
    this.ofCurrent = [];
    this.ofEnded = ofEnded.length === 0 ? ofCurrent : await addUp([ofEnded, ofCurrent]);
  }

  /** All metrics, as parts to be added up. */
  get parts(): readonly MetricFamilies[] {
    return [this.ofEnded, this.ofCurrent].filter((families) => families.length > 0);
  }
}
