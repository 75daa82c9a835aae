import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';

/** The result of an attempt to place a pod. */
export type SchedulingResult = 'scheduled' | 'unschedulable' | 'error';

/** The state of a running scheduler at each scrape. */
export interface SchedulerCensus {
  /** Pods that wait, by their place in the queue. */
  readonly queues: Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>>;
  /** Pods that were refused, by each filter that refused them. */
  readonly refusedBy: ReadonlyMap<string, number>;
  /** Nodes and pods that decisions are based on; assumed pods have a node that is not written yet. */
  readonly cache: Readonly<Record<'nodes' | 'pods' | 'assumed_pods', number>>;
}

const queueNames = ['active', 'backoff', 'unschedulable', 'gated'] as const;
const cacheTypes = ['nodes', 'pods', 'assumed_pods'] as const;

/** Metrics of the control loop that places pods, under upstream's names. Times are in seconds. */
export class SchedulerMetrics {
  private readonly attempts: Counter<'result' | 'profile'>;
  private readonly attemptTimes: Histogram<'result' | 'profile'>;
  private readonly algorithmTimes: Histogram;
  private readonly attemptsOfPods: Histogram;
  private readonly waits: Histogram<'attempts'>;
  private readonly preemptions: Counter;
  private readonly victims: Histogram;
  private census: (() => SchedulerCensus) | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['result', 'profile'] as const;
    this.attempts = new Counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Attempts to place a pod, by result and by the scheduler that the pod names.',
      labelNames,
      registers,
    });
    this.attemptTimes = new Histogram({
      name: 'scheduler_scheduling_attempt_duration_seconds',
      help: 'Time of an attempt to place a pod, up to the written binding or the refusal.',
      labelNames,
      buckets: exponentialBuckets(0.001, 2, 15),
      registers,
    });
    this.algorithmTimes = new Histogram({
      name: 'scheduler_scheduling_algorithm_duration_seconds',
      help: 'Time to find a node for a pod.',
      buckets: exponentialBuckets(0.001, 2, 15),
      registers,
    });
    this.attemptsOfPods = new Histogram({
      name: 'scheduler_pod_scheduling_attempts',
      help: 'Attempts that it took to place a pod.',
      buckets: exponentialBuckets(1, 2, 5),
      registers,
    });
    this.waits = new Histogram({
      name: 'scheduler_pod_scheduling_sli_duration_seconds',
      help: 'Time from when a pod could be placed (without gates) until its binding was written, by attempts.',
      labelNames: ['attempts'],
      buckets: exponentialBuckets(0.01, 2, 20),
      registers,
    });
    this.preemptions = new Counter({
      name: 'scheduler_preemption_attempts_total',
      help: 'Searches for less important pods to remove in favour of a pod that fits nowhere.',
      registers,
    });
    this.victims = new Histogram({
      name: 'scheduler_preemption_victims',
      help: 'Pods chosen for removal, for each pod in whose favour.',
      buckets: exponentialBuckets(1, 2, 7),
      registers,
    });
    this.addGauges(registers);
  }

  /** Shows the state of a running scheduler until the returned function is called. */
  show(census: () => SchedulerCensus): () => void {
    this.census = census;
    return () => {
      if (this.census === census) this.census = undefined;
    };
  }

  attempted(result: SchedulingResult, profile: string, seconds: number): void {
    this.attempts.inc({ result, profile });
    this.attemptTimes.observe({ result, profile }, seconds);
  }

  searched(seconds: number): void {
    this.algorithmTimes.observe(seconds);
  }

  /** @param waited seconds since the pod could be placed */
  placed(attempts: number, waited: number): void {
    this.attemptsOfPods.observe(attempts);
    // Beyond 15 attempts they share a series, as upstream's do.
    this.waits.observe({ attempts: attempts > 15 ? '15+' : String(attempts) }, waited);
  }

  /** @param victims pods that are removed; 0 when none help */
  preempted(victims: number): void {
    this.preemptions.inc();
    if (victims > 0) this.victims.observe(victims);
  }

  private addGauges(registers: Registry[]): void {
    const census = () => this.census?.();
    new Gauge({
      name: 'scheduler_pending_pods',
      help: 'Pods that wait for a node, by their place in the queue.',
      labelNames: ['queue'],
      registers,
      collect() {
        const queues = census()?.queues;
        for (const queue of queueNames) this.set({ queue }, queues?.[queue] ?? 0);
      },
    });
    new Gauge({
      name: 'scheduler_unschedulable_pods',
      help: 'Pods that were refused at their last attempt, by each filter that refused them.',
      labelNames: ['plugin', 'profile'],
      registers,
      collect() {
        this.reset();
        for (const [plugin, pods] of census()?.refusedBy ?? []) this.set({ plugin, profile: '' }, pods);
      },
    });
    new Gauge({
      name: 'scheduler_cache_size',
      help: 'Nodes and pods that decisions are based on, and pods among them whose binding is under way.',
      labelNames: ['type'],
      registers,
      collect() {
        const cache = census()?.cache;
        for (const type of cacheTypes) this.set({ type }, cache?.[type] ?? 0);
      },
    });
  }
}
