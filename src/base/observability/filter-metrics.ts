import type { Registry } from 'prom-client';
import { type LatencySeries, SeriesHistogram } from './series-histogram.js';

const bounds = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30];
/** The phases of a request, as it marks their ends, and the names that the metric has for them. */
const filterOf = { authentication: 'authentication', queue: 'priorityandfairness', authorization: 'authorization' };

/** The time that requests spend before they are handled, by filter, under upstream's name. */
export class FilterMetrics {
  private readonly filters: ReadonlyMap<string, LatencySeries>;

  constructor(registry: Registry) {
    const durations = new SeriesHistogram(
      {
        name: 'apiserver_request_filter_duration_seconds',
        help: 'Time of requests in what decides about them before they are handled; priorityandfairness: in a queue, if they had to wait.',
        labelNames: ['filter'],
      },
      bounds,
      registry,
    );
    this.filters = new Map(Object.entries(filterOf).map(([phase, filter]) => [phase, durations.with({ filter })]));
  }

  /**
   * Counts the filters of a request.
   *
   * @param startedAt when the request arrived, a time of `performance.now()`
   * @param phaseEnds the name and the end of each phase, in turn
   */
  passed(startedAt: number, phaseEnds: readonly (string | number)[]): void {
    let begin = startedAt;
    for (let i = 0; i + 1 < phaseEnds.length; i += 2) {
      const end = phaseEnds[i + 1] as number;
      this.filters.get(phaseEnds[i] as string)?.observe((end - begin) / 1000);
      begin = end;
    }
  }
}
