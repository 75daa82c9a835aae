import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { QueueObserver } from '../work-queue.js';

const label = ['name'] as const;
const buckets = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100];

/** The metrics of the queues of control loops, under the names that operators of such programs know. */
export class QueueMetrics {
  private readonly adds: Counter<'name'>;
  private readonly depth: Gauge<'name'>;
  private readonly waited: Histogram<'name'>;
  private readonly worked: Histogram<'name'>;
  private readonly retries: Counter<'name'>;
  private readonly unfinished: Gauge<'name'>;
  private readonly longest: Gauge<'name'>;
  private readonly running = new Map<string, Set<number>>();

  /** @param now milliseconds from a fixed point */
  constructor(
    registry: Registry,
    private readonly now: () => number,
  ) {
    const registers = [registry];
    const of = (name: string, help: string) => ({ name, help, labelNames: label, registers });
    this.adds = new Counter(of('workqueue_adds_total', 'Keys that were added to the queue.'));
    this.depth = new Gauge(of('workqueue_depth', 'Keys that wait.'));
    this.waited = new Histogram({
      ...of('workqueue_queue_duration_seconds', 'How long keys waited before the work on them.'),
      buckets,
    });
    this.worked = new Histogram({ ...of('workqueue_work_duration_seconds', 'How long work on a key took.'), buckets });
    this.retries = new Counter(of('workqueue_retries_total', 'Keys whose work is tried again.'));
    const collect = () => this.collect();
    this.unfinished = new Gauge({
      ...of('workqueue_unfinished_work_seconds', 'Time spent so far on the keys under work, added up.'),
      collect,
    });
    this.longest = new Gauge(
      of('workqueue_longest_running_processor_seconds', 'Time spent so far on the key that is longest under work.'),
    );
  }

  /** Observes the queue of a loop. */
  of(name: string): QueueObserver {
    let running = this.running.get(name);
    if (running === undefined) {
      running = new Set();
      this.running.set(name, running);
    }
    const started = running;
    const labels = { name };
    return {
      added: () => this.adds.inc(labels),
      depth: (keys) => this.depth.set(labels, keys),
      retried: () => this.retries.inc(labels),
      began: (waitedMs) => {
        this.waited.observe(labels, waitedMs / 1000);
        // Two keys never begin at the very same time: the set holds one entry for each.
        let at = this.now();
        while (started.has(at)) at += 1e-6;
        started.add(at);
        return () => {
          started.delete(at);
          this.worked.observe(labels, (this.now() - at) / 1000);
        };
      },
    };
  }

  private collect(): void {
    const now = this.now();
    for (const [name, started] of this.running) {
      let sum = 0;
      let longest = 0;
      for (const at of started) {
        sum += now - at;
        longest = Math.max(longest, now - at);
      }
      this.unfinished.set({ name }, sum / 1000);
      this.longest.set({ name }, longest / 1000);
    }
  }
}
