import { Counter, Gauge, type Registry } from 'prom-client';
import type { CreationLimit, CreationObserver } from './creation-budget.js';

/** Counts the creations that wait for the budgets of namespaces. */
export class CreationMetrics implements CreationObserver {
  private readonly waiting: Gauge<'limit'>;
  private readonly seconds: Counter<'limit'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.waiting = new Gauge({
      name: 'plinth_loop_creations_waiting',
      help: 'Objects that control loops will create, or large ones that they will change, when the limits of their namespaces allow it (--creation-rate, --creation-bytes).',
      labelNames: ['limit'],
      registers,
    });
    this.seconds = new Counter({
      name: 'plinth_loop_creation_wait_seconds_total',
      help: 'Time for which objects waited that control loops create, because of the limits of their namespaces.',
      labelNames: ['limit'],
      registers,
    });
    for (const limit of ['objects', 'bytes'] as const) {
      this.waiting.set({ limit }, 0);
      this.seconds.inc({ limit }, 0);
    }
  }

  waits(limit: CreationLimit): (seconds: number) => void {
    this.waiting.inc({ limit });
    return (seconds) => {
      this.waiting.dec({ limit });
      this.seconds.inc({ limit }, seconds);
    };
  }
}
