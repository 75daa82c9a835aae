import type { Registry } from 'prom-client';
import { SeriesHistogram } from './series-histogram.js';

const bounds = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const levels: readonly string[] = ['', 'Ignore', 'Warn', 'Strict'];
const invalid = 'invalid';

/** The time of writes by how they want unknown fields to be treated, under upstream's name. */
export class FieldValidationMetrics {
  private readonly series: ReadonlyMap<string, { observe(seconds: number): void }>;

  constructor(registry: Registry) {
    const durations = new SeriesHistogram(
      {
        name: 'field_validation_request_duration_seconds',
        help: 'Time of creates, updates and patches, by the parameter fieldValidation; empty: without it.',
        labelNames: ['field_validation'],
      },
      bounds,
      registry,
    );
    this.series = new Map([...levels, invalid].map((level) => [level, durations.with({ field_validation: level })]));
  }

  /** @param level the parameter as it was sent; null without it */
  written(level: string | null, seconds: number): void {
    const series = this.series.get(levels.includes(level ?? '') ? (level ?? '') : invalid);
    series?.observe(seconds);
  }
}
