import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';

/** What came of a computation: the direction of the change of replicas, and whose fault a failure is. */
export interface AutoscalerOutcome {
  readonly action: 'scale_up' | 'scale_down' | 'none';
  readonly error: 'none' | 'spec' | 'internal';
}

/** Metrics of the controller of horizontal pod autoscalers, under upstream's names. */
export class AutoscalerMetrics {
  private readonly autoscalers = new Set<string>();
  private readonly runs: Counter<'action' | 'error'>;
  private readonly runTimes: Histogram<'action' | 'error'>;
  private readonly computations: Counter<'action' | 'error' | 'metric_type'>;
  private readonly computationTimes: Histogram<'action' | 'error' | 'metric_type'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const prefix = 'horizontal_pod_autoscaler_controller';
    const buckets = exponentialBuckets(0.001, 2, 15);
    const labelNames = ['action', 'error'] as const;
    this.runs = new Counter({
      name: `${prefix}_reconciliations_total`,
      help: 'Runs of the work on an autoscaler, by what happened to the replicas and by the cause of a failure.',
      labelNames,
      registers,
    });
    this.runTimes = new Histogram({
      name: `${prefix}_reconciliation_duration_seconds`,
      help: 'Time of a run of the work on an autoscaler.',
      labelNames,
      buckets,
      registers,
    });
    const metricLabels = [...labelNames, 'metric_type'] as const;
    this.computations = new Counter({
      name: `${prefix}_metric_computation_total`,
      help: 'Computations of replicas from one metric, by what it asks for, the cause of a failure and its type.',
      labelNames: metricLabels,
      registers,
    });
    this.computationTimes = new Histogram({
      name: `${prefix}_metric_computation_duration_seconds`,
      help: 'Time to compute replicas from one metric.',
      labelNames: metricLabels,
      buckets,
      registers,
    });
    const { autoscalers } = this;
    new Gauge({
      name: `${prefix}_num_horizontal_pod_autoscalers`,
      help: 'Autoscalers that the controller works on.',
      registers,
      collect() {
        this.set(autoscalers.size);
      },
    });
  }

  reconciled({ action, error }: AutoscalerOutcome, seconds: number): void {
    this.runs.inc({ action, error });
    this.runTimes.observe({ action, error }, seconds);
  }

  /** @param metric_type the type of a metric in a spec, of which there are few */
  computed({ action, error }: AutoscalerOutcome, metric_type: string, seconds: number): void {
    this.computations.inc({ action, error, metric_type });
    this.computationTimes.observe({ action, error, metric_type }, seconds);
  }

  present(key: string): void {
    this.autoscalers.add(key);
  }

  forget(key: string): void {
    this.autoscalers.delete(key);
  }

  /** Drops all autoscalers: another process leads. */
  clear(): void {
    this.autoscalers.clear();
  }
}
