import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of checks of bearer tokens that the cache did not know, under upstream's names. */
export class TokenCheckMetrics {
  private readonly checks: Counter<'status'>;
  private readonly durations: Histogram<'status'>;
  private active = 0;

  constructor(registry: Registry) {
    const registers = [registry];
    this.checks = new Counter({
      name: 'authentication_token_cache_fetch_total',
      help: 'Checks of bearer tokens that were not remembered, by whether they came to a result (ok) or failed (error).',
      labelNames: ['status'],
      registers,
    });
    this.durations = new Histogram({
      name: 'authentication_token_cache_request_duration_seconds',
      help: 'Time of checks of bearer tokens that were not remembered.',
      labelNames: ['status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    const active = () => this.active;
    new Gauge({
      name: 'authentication_token_cache_active_fetch_count',
      help: 'Checks of bearer tokens that are under way.',
      labelNames: ['status'],
      registers,
      collect() {
        this.set({ status: 'in_flight' }, active());
      },
    });
  }

  /** Counts a check as begun; the returned function reports its end. */
  begin(): (isDone: boolean) => void {
    const began = performance.now();
    this.active++;
    return (isDone) => {
      this.active--;
      this.checks.inc({ status: isDone ? 'ok' : 'error' });
      this.durations.observe({ status: 'miss' }, (performance.now() - began) / 1000);
    };
  }
}
