import type { Registry } from 'prom-client';
import type { AuthorizationDecision } from '../../base/machinery/authorizer.js';
import { type CountedSeries, SeriesCounter } from '../../base/observability/series-counter.js';
import { type LatencySeries, SeriesHistogram } from '../../base/observability/series-histogram.js';

/** Injection token of the {@link AuthorizationMetrics}. */
export const AUTHORIZATION_METRICS = Symbol('AuthorizationMetrics');

type Outcome = AuthorizationDecision['decision'] | 'error';

/** The outcomes as the metrics name them. */
const shown: Readonly<Record<Outcome, string>> = {
  allow: 'allowed',
  deny: 'denied',
  noOpinion: 'no-opinion',
  error: 'error',
};
/** Bounds from a millisecond on, each twice the previous one. */
const bounds = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

interface OutcomeSeries {
  readonly count: CountedSeries;
  readonly seconds: LatencySeries;
}

/** Metrics of decisions about requests, under the names that operators of API servers know. */
export class AuthorizationMetrics {
  private readonly series: Readonly<Record<Outcome, OutcomeSeries>>;

  constructor(registry: Registry) {
    const attempts = new SeriesCounter(
      {
        name: 'authorization_attempts_total',
        help: 'Requests by whether they were allowed. A request that no module has an opinion of is denied.',
        labelNames: ['result'],
      },
      registry,
    );
    const durations = new SeriesHistogram(
      { name: 'authorization_duration_seconds', help: 'Time of decisions, by result.', labelNames: ['result'] },
      bounds,
      registry,
    );
    const of = (outcome: Outcome): OutcomeSeries => {
      const result = shown[outcome];
      return { count: attempts.with({ result }, { evenEmpty: true }), seconds: durations.with({ result }) };
    };
    this.series = { allow: of('allow'), deny: of('deny'), noOpinion: of('noOpinion'), error: of('error') };
  }

  /** @param begin when the decision was requested, a time of `performance.now()` */
  decided(outcome: Outcome, begin: number): void {
    const { count, seconds } = this.series[outcome];
    count.inc();
    seconds.observe((performance.now() - begin) / 1000);
  }
}
