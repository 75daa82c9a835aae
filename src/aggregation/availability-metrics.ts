import { Counter, Gauge, type Registry } from 'prom-client';
import type { Availability } from './availability.js';

/** Which APIServices are away, under the names that operators of such servers know. */
export class AvailabilityMetrics {
  private readonly unavailable: Gauge<'name'>;
  private readonly failures: Counter<'name' | 'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.unavailable = new Gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'Whether an APIService is unavailable (1), as this process last found out.',
      labelNames: ['name'],
      registers,
    });
    this.failures = new Counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'How often an APIService became unavailable, by reason.',
      labelNames: ['name', 'reason'],
      registers,
    });
  }

  /** A new state of an APIService was written. */
  stated(name: string, { status, reason = '' }: Availability): void {
    this.unavailable.set({ name }, status === 'True' ? 0 : 1);
    if (status !== 'True') this.failures.inc({ name, reason });
  }

  /** The APIService is gone. */
  forget(name: string): void {
    this.unavailable.remove({ name });
  }
}
