import type { Registry } from 'prom-client';
import { Buckets } from './buckets.js';
import { CollectedMetric } from './collected-metric.js';
import type { SeriesValue } from './series.js';
import { type RequestTracer, tracedAlone } from './trace-scope.js';

/** Receives the events of a queue. */
export interface QueueCounter {
  added(count?: number): void;
  /** Sets the number of entries that are waiting. */
  depth(entries: number): void;
  retried(): void;
  /**
   * Called when work on an entry begins, with the time that it waited; the returned function must be called when the
   * work is done.
   */
  began(waitedMs: number): () => void;
  /** Runs the work on an entry, as a trace of its own if it is sampled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Bucket bounds in seconds, in powers of ten. */
const bounds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

/** One queue. */
class Queue implements QueueCounter {
  adds = 0;
  waiting = 0;
  retries = 0;
  readonly waited = new Buckets(bounds);
  readonly worked = new Buckets(bounds);
  /** Start times of the work in progress. */
  readonly running = new Set<number>();

  constructor(
    readonly name: string,
    private readonly now: () => number,
    private readonly tracer: () => RequestTracer | undefined,
  ) {}

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return tracedAlone(this.tracer(), `loop ${this.name}`, { key }, work);
  }

  added(count = 1): void {
    this.adds += count;
  }

  depth(entries: number): void {
    this.waiting = entries;
  }

  retried(): void {
    this.retries++;
  }

  began(waitedMs: number): () => void {
    this.waited.observe(waitedMs / 1000);
    // Each piece of work needs an entry of its own in the set, even if several begin at the very same time.
    let at = this.now();
    while (this.running.has(at)) at += 1e-6;
    this.running.add(at);
    return () => {
      this.running.delete(at);
      this.worked.observe((this.now() - at) / 1000);
    };
  }
}

/** The metrics of queues, under the names that the reference programs use. */
export class QueueMetrics {
  /** Traces the work on entries; if unset, nothing is traced. */
  tracer: RequestTracer | undefined;
  private readonly queues = new Map<string, Queue>();

  /** @param now milliseconds from a fixed point */
  constructor(
    private readonly registry: Registry,
    private readonly now: () => number,
  ) {
    this.add('counter', 'adds_total', 'Entries that were added to a queue.', ({ adds }) => adds);
    this.add('gauge', 'depth', 'Entries that wait.', ({ waiting }) => waiting);
    this.add('counter', 'retries_total', 'Entries whose work is tried again.', ({ retries }) => retries);
    this.add('gauge', 'unfinished_work_seconds', 'Time spent so far on the entries under work, added up.', (queue) =>
      this.spent(queue).reduce((sum, seconds) => sum + seconds, 0),
    );
    this.add(
      'gauge',
      'longest_running_processor_seconds',
      'Time spent so far on the entry that is longest under work.',
      (queue) => Math.max(0, ...this.spent(queue)),
    );
    this.addHistogram('queue_duration_seconds', 'How long entries waited before the work on them.', 'waited');
    this.addHistogram('work_duration_seconds', 'How long work on an entry took.', 'worked');
  }

  /** The counter of a queue by name. There are few names: those of controllers, and of writes to the database. */
  of(name: string): QueueCounter {
    let queue = this.queues.get(name);
    if (queue === undefined) {
      queue = new Queue(name, this.now, () => this.tracer);
      this.queues.set(name, queue);
    }
    return queue;
  }

  private spent({ running }: Queue): number[] {
    const now = this.now();
    return [...running].map((at) => (now - at) / 1000);
  }

  private add(type: 'counter' | 'gauge', name: string, help: string, count: (queue: Queue) => number): void {
    new CollectedMetric({ name: `workqueue_${name}`, help, labelNames: ['name'] }, type, this.registry, () =>
      [...this.queues.values()].map((queue) => ({ value: count(queue), labels: { name: queue.name } })),
    );
  }

  private addHistogram(name: string, help: string, which: 'waited' | 'worked'): void {
    const full = `workqueue_${name}`;
    new CollectedMetric({ name: full, help, labelNames: ['name'] }, 'histogram', this.registry, () => {
      const values: SeriesValue[] = [];
      for (const queue of this.queues.values()) queue[which].appendTo(values, full, { name: queue.name });
      return values;
    });
  }
}
