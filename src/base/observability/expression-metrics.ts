import type { Registry } from 'prom-client';
import { type LatencySeries, SeriesHistogram } from './series-histogram.js';

/** Exponential bucket bounds in seconds, the same as in the release. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Metrics of the time for validation rules of custom resources: to compile those of a schema, and to check one object.
 */
export class ExpressionMetrics {
  readonly compilations: LatencySeries;
  readonly evaluations: LatencySeries;

  constructor(registry: Registry) {
    const series = (name: string, help: string) =>
      new SeriesHistogram({ name, help, labelNames: [] }, bounds, registry, { evenEmpty: true }).with({});
    this.compilations = series(
      'apiserver_cel_compilation_duration_seconds',
      'Time to compile the rules of a schema of a custom resource, without the time of other work in between.',
    );
    this.evaluations = series(
      'apiserver_cel_evaluation_duration_seconds',
      'Time to evaluate the rules of a custom resource for one written object.',
    );
  }
}
