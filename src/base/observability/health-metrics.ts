import { Counter, Gauge, Registry } from 'prom-client';

/**
 * The outcomes of health checks, for the reliability of the process as its probes see it. They have a page of their
 * own, `/metrics/slis`, which collectors request more often than the large one.
 */
export class HealthMetrics {
  readonly registry = new Registry();
  private readonly last: Gauge<'name' | 'type'>;
  private readonly all: Counter<'name' | 'type' | 'status'>;

  constructor() {
    const registers = [this.registry];
    this.last = new Gauge({
      name: 'kubernetes_healthcheck',
      help: 'Outcome of the last run of a health check, by its name and the path: 1 for success.',
      labelNames: ['name', 'type'],
      registers,
    });
    this.all = new Counter({
      name: 'kubernetes_healthchecks_total',
      help: 'Runs of health checks, by name, path and outcome (success or error).',
      labelNames: ['name', 'type', 'status'],
      registers,
    });
  }

  /** @param type the path of the check: healthz, livez or readyz */
  checked(name: string, type: string, isPassed: boolean): void {
    this.last.set({ name, type }, isPassed ? 1 : 0);
    this.all.inc({ name, type, status: isPassed ? 'success' : 'error' });
  }
}
