import type { Metric, Registry } from 'prom-client';
import { addUp, type MetricFamilies } from '../../base/observability/metrics.js';

/** What only the thread sees of a request: admission, and calls of other servers. The process counts all else itself. */
const countedInThread = /^(?:apiserver_(?:(?:validating_|mutating_)?admission)_|pod_security_|rest_client_)/;

/** What a thread has counted so far. */
export function countsOf(registry: Registry): Promise<MetricFamilies> {
  const metrics = registry.getMetricsAsArray() as unknown as readonly (Metric & { readonly name: string })[];
  const families = metrics.filter(({ name }) => countedInThread.test(name)).map((metric) => metric.get());
  return Promise.all(families) as unknown as Promise<MetricFamilies>;
}

/** What all threads of a thread, one after the other, have counted. */
export class LargeRequestThreadCounts {
  private ofEnded: MetricFamilies = [];
  private ofCurrent: MetricFamilies = [];

  /** The current thread tells what it has counted since it began. */
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
