import type { Metric, Registry } from 'prom-client';
import { addUp, type MetricFamilies } from '../../base/observability/metrics.js';

/**
 * The counts that only the thread can make: admission, and calls of other servers. The process counts everything else
 * itself.
 */
const countedInThread = /^(?:apiserver_(?:(?:validating_|mutating_)?admission)_|pod_security_|rest_client_)/;

/** The counts of a thread so far. */
export function countsOf(registry: Registry): Promise<MetricFamilies> {
  const metrics = registry.getMetricsAsArray() as unknown as readonly (Metric & { readonly name: string })[];
  const families = metrics.filter(({ name }) => countedInThread.test(name)).map((metric) => metric.get());
  return Promise.all(families) as unknown as Promise<MetricFamilies>;
}

/** The sum of the counts of successive threads. */
export class LargeRequestThreadCounts {
  private ofEnded: MetricFamilies = [];
  private ofCurrent: MetricFamilies = [];

  /** Updates the counts of the current thread since it began. */
  add(counts: MetricFamilies): void {
    this.ofCurrent = counts;
  }

  /** Called when the current thread has ended: the next one begins at zero. */
  async threadEnded(): Promise<void> {
    const { ofEnded, ofCurrent } = this;
    if (ofCurrent.length === 0) return;
    this.ofCurrent = [];
    this.ofEnded = ofEnded.length === 0 ? ofCurrent : await addUp([ofEnded, ofCurrent]);
  }

  /** All counts, in parts to be added up. */
  get parts(): readonly MetricFamilies[] {
    return [this.ofEnded, this.ofCurrent].filter((families) => families.length > 0);
  }
}
