import { Counter, exponentialBuckets, Histogram, type Registry } from 'prom-client';
import { StatusError } from '../../../base/machinery/status-error.js';

/** The code of a failure that is not an answer of the API. */
const internal = 500;
const ok = 200;

/** Metrics of a controller that publishes something, under upstream's names. */
export class PublisherMetrics {
  private readonly syncs: Counter<'code'>;
  private readonly times: Histogram<'code'>;

  constructor(registry: Registry, prefix: string, what: string) {
    const registers = [registry];
    this.syncs = new Counter({
      name: `${prefix}_sync_total`,
      help: `Checks of ${what}, by the code of the answer to their writes.`,
      labelNames: ['code'],
      registers,
    });
    this.times = new Histogram({
      name: `${prefix}_sync_duration_seconds`,
      help: `Time of checks of ${what}.`,
      labelNames: ['code'],
      buckets: exponentialBuckets(0.001, 2, 15),
      registers,
    });
  }

  /** Runs and counts a check; its outcome is that of `work`. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    let code = ok;
    try {
      return await work();
    } catch (error) {
      code = error instanceof StatusError ? error.code : internal;
      throw error;
    } finally {
      this.syncs.inc({ code });
      this.times.observe({ code }, (performance.now() - started) / 1000);
    }
  }
}
