import type { Metric, Registry } from 'prom-client';
import { addUp, type MetricFamilies } from '../../base/observability/metrics.js';

/**
 * The counts that only the thread can make: admission, and calls of other servers. The process counts everything else
 * itself.
 */
const countedInThread = /^(?:apiserver_(?:(?:validating_|mutating_)?admission)_|pod_security_|rest_client_)/;

/** What a thread has counted so far. */
export function countsOf(registry: Registry): Promise<MetricFamilies> {
  const metrics = registry.getMetricsAsArray() as unknown as readonly (Metric & { readonly name: string })[];
  const families = metrics.filter(({ name }) => countedInThread.test(name)).map((metric) => metric.get());
  return Promise.all(families) as unknown as Promise<MetricFamilies>;
}

/** The sum of what successive threads have counted. */
export class LargeRequestThreadCounts {
  private ofEnded: MetricFamilies = [];
  private ofCurrent: MetricFamilies = [];

  /** Updates what the current thread has counted since it began. */
  add(counts: MetricFamilies): void {
    this.ofCurrent = counts;
  }

  /** The current thread has ended: the next one begins at zero. */
  async threadEnded(): Promise<void> {
    const { ofEnded, ofCurrent } = this;
    if (ofCurrent.length === 0) return;
    this.ofCurrent = [];
    this.ofEnded = ofEnded.length === 0 ? ofCurrent : await addUp([ofEnded, ofCurrent]);
  }

  /** Everything that was counted, in parts to be added up. */
  get parts(): readonly MetricFamilies[] {
    return [this.ofEnded, this.ofCurrent].filter((families) => families.length > 0);
  }
}
