import { Counter, Gauge, Registry } from 'prom-client';
import { encodeFamilies } from '../../../base/observability/encode-families.js';
import { addUp, type MetricFamilies, type Metrics, mergeFamilies } from '../../../base/observability/metrics.js';
import { withNatives } from '../../../base/observability/natives.js';
import { Gathering } from './gathering.js';
import type { MetricsQuery } from './worker-messages.js';

/**
 * The metrics of all workers, in the parent. Every series has the label `worker`. Nothing is added up: a sum falls when
 * a worker ends, which looks like a reset of the counter when rates are computed. The parent adds which workers are up
 * and how often each was restarted.
 */
export class WorkerMetrics {
  private readonly registry = new Registry();
  private readonly up: Gauge<'worker'>;
  private readonly restarts: Counter<'worker'>;
  private readonly own: Pick<Metrics, 'families'>[] = [];
  private readonly gathering: Gathering<MetricsQuery, MetricFamilies>;

  /** @param ask asks a worker to report under an id; false when the worker can't be reached */
  constructor(ask: (worker: number, id: number, query: MetricsQuery) => boolean) {
    this.gathering = new Gathering(ask);
    const registers = [this.registry];
    this.up = new Gauge({
      name: 'plinth_worker_up',
      help: 'Whether a worker process serves and answered this scrape.',
      labelNames: ['worker'],
      registers,
    });
    this.restarts = new Counter({
      name: 'plinth_worker_restarts_total',
      help: 'How often a worker process was started again after it ended.',
      labelNames: ['worker'],
      registers,
    });
  }

  /** Adds the metrics of another part of this process to every scrape. */
  share(own: Pick<Metrics, 'families'>): void {
    this.own.push(own);
  }

  /** Makes the series of a worker, so that they exist before anything happens. */
  add(worker: number): void {
    this.up.set({ worker: String(worker) }, 0);
    this.restarts.inc({ worker: String(worker) }, 0);
  }

  restarted(worker: number): void {
    this.restarts.inc({ worker: String(worker) });
  }

  /** One scrape over all `workers`, as text, or in protobuf as base64. */
  async gather(workers: readonly number[], { page, form }: MetricsQuery): Promise<string> {
    const collected = [...(await this.gathering.from(workers, { page, form })).values()];
    this.up.reset();
    for (const worker of workers) this.up.set({ worker: String(worker) }, 0);
    for (const families of collected) for (const worker of workersOf(families)) this.up.set({ worker }, 1);
    for (const own of this.own) collected.push(await own.families(page));
    if (page === 'all') collected.push((await this.registry.getMetricsAsJSON()) as unknown as MetricFamilies);
    if (form === 'text') return mergeFamilies(collected);
    return encodeFamilies(withNatives(await addUp(collected), collected)).toString('base64');
  }

  /** Receives a worker's report. */
  receive(worker: number, id: number, families: MetricFamilies): void {
    this.gathering.receive(worker, id, families);
  }

  /** Stops waiting for a worker that has ended. */
  lost(worker: number): void {
    this.gathering.lost(worker);
  }
}

function workersOf(families: MetricFamilies): Set<string> {
  const found = new Set<string>();
  for (const { values } of families) {
    const worker = values?.[0]?.labels.worker;
    if (worker !== undefined) found.add(worker);
  }
  return found;
}
