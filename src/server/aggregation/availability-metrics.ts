import type { Registry } from 'prom-client';
import { CollectedMetric } from '../../base/observability/collected-metric.js';
import type { RemoteApiService } from './known-api-service.js';

/**
 * Metrics of unavailable APIServices, under the names that operators of API servers know. Each process reports the
 * state that it uses for requests; a change is counted when metrics are next read.
 */
export class AvailabilityMetrics {
  private readonly failures = new Map<string, { readonly name: string; readonly reason: string; count: number }>();
  private away = new Map<string, string>();

  constructor(
    registry: Registry,
    private readonly remotes: () => readonly RemoteApiService[],
  ) {
    new CollectedMetric(
      {
        name: 'aggregator_unavailable_apiservice',
        help: 'Whether the APIService of an extension server is unavailable (1).',
        labelNames: ['name'],
      },
      'gauge',
      registry,
      () => this.judged().map(({ name, isAvailable }) => ({ value: isAvailable ? 0 : 1, labels: { name } })),
    );
    new CollectedMetric(
      {
        name: 'aggregator_unavailable_apiservice_total',
        help: 'How often the APIService of an extension server became unavailable, by reason.',
        labelNames: ['name', 'reason'],
      },
      'counter',
      registry,
      () => {
        this.note();
        return [...this.failures.values()].map(({ name, reason, count }) => ({
          value: count,
          labels: { name, reason },
        }));
      },
    );
  }

  /** Omits new APIServices, whose availability is not known yet. */
  private judged(): RemoteApiService[] {
    return this.remotes().filter(({ isAvailable, reason }) => isAvailable || reason !== '');
  }

  private note(): void {
    const away = new Map<string, string>();
    for (const { name, isAvailable, reason } of this.judged()) {
      if (isAvailable) continue;
      away.set(name, reason);
      if (this.away.get(name) === reason) continue;
      const key = `${name}\n${reason}`;
      const failure = this.failures.get(key) ?? { name, reason, count: 0 };
      failure.count++;
      this.failures.set(key, failure);
    }
    this.away = away;
    const known = new Set(this.remotes().map(({ name }) => name));
    for (const [key, { name }] of this.failures) if (!known.has(name)) this.failures.delete(key);
  }
}
