import { Counter, Gauge, Registry } from 'prom-client';
import { type MetricFamilies, type Metrics, type MetricsPage, mergeFamilies } from '../../observability/metrics.js';

/**
 * A worker that does not answer in this time, because its event loop is busy, is left out of a scrape and shown as
 * down.
 */
const answerMs = 2_000;

interface Collection {
  readonly waiting: Set<number>;
  readonly collected: MetricFamilies[];
  readonly finish: () => void;
}

/**
 * The metrics of all workers, in the parent. Every series has the label `worker`. Nothing is added up: a sum falls when
 * a worker ends, which looks like a reset of the counter when rates are computed. The parent adds which workers are up
 * and how often each was restarted.
 */
export class WorkerMetrics {
  private readonly registry = new Registry();
  private readonly up: Gauge<'worker'>;
  private readonly restarts: Counter<'worker'>;
  private readonly collections = new Map<number, Collection>();
  private readonly own: Pick<Metrics, 'families'>[] = [];
  private nextId = 1;

  /** @param ask asks a worker to report under an id; false when the worker can't be reached */
  constructor(private readonly ask: (worker: number, id: number, page: MetricsPage) => boolean) {
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

  /** The text of one scrape over all `workers`. */
  async gather(workers: readonly number[], page: MetricsPage): Promise<string> {
    const id = this.nextId++;
    const collected: MetricFamilies[] = [];
    const waiting = new Set<number>();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.collections.get(id)?.finish(), answerMs);
      const finish = () => {
        clearTimeout(timer);
        this.collections.delete(id);
        resolve();
      };
      this.collections.set(id, { waiting, collected, finish });
      for (const worker of workers) if (this.ask(worker, id, page)) waiting.add(worker);
      if (waiting.size === 0) finish();
    });
    this.up.reset();
    for (const worker of workers) this.up.set({ worker: String(worker) }, 0);
    for (const families of collected) for (const worker of workersOf(families)) this.up.set({ worker }, 1);
    for (const own of this.own) collected.push(await own.families(page));
    if (page === 'slis') return mergeFamilies(collected);
    collected.push((await this.registry.getMetricsAsJSON()) as unknown as MetricFamilies);
    return mergeFamilies(collected);
  }

  /** A worker's report. */
  receive(worker: number, id: number, families: MetricFamilies): void {
    const collection = this.collections.get(id);
    if (collection?.waiting.delete(worker) !== true) return;
    collection.collected.push(families);
    if (collection.waiting.size === 0) collection.finish();
  }

  /** Stops waiting for a worker that has ended. */
  lost(worker: number): void {
    for (const collection of [...this.collections.values()]) {
      if (collection.waiting.delete(worker) && collection.waiting.size === 0) collection.finish();
    }
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
