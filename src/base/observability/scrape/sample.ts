import type { ScrapedSeries } from './scrape.js';

/** One row of the requests: what happened between two samples, or since the start of the server. */
export interface RequestRow {
  readonly verb: string;
  readonly resource: string;
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  /** Seconds; undefined when nothing was measured. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

export interface FlowRow {
  readonly level: string;
  readonly seats: number;
  readonly running: number;
  readonly waiting: number;
  readonly refusedPerSecond: number;
}

/** The metrics of a server at one moment. */
export class Sample {
  private readonly byName = new Map<string, ScrapedSeries[]>();

  /** @param at milliseconds from a fixed point */
  constructor(
    series: readonly ScrapedSeries[],
    readonly at: number,
  ) {
    for (const one of series) {
      const known = this.byName.get(one.name);
      if (known === undefined) this.byName.set(one.name, [one]);
      else known.push(one);
    }
  }

  of(name: string): readonly ScrapedSeries[] {
    return this.byName.get(name) ?? [];
  }

  sum(name: string, fits: (labels: ScrapedSeries['labels']) => boolean = () => true): number {
    return this.of(name).reduce((sum, { labels, value }) => (fits(labels) ? sum + value : sum), 0);
  }

  most(name: string): number {
    return Math.max(0, ...this.of(name).map(({ value }) => value));
  }
}

/** What changed between two samples; without an earlier one, since the start of the server. */
export class Span {
  constructor(
    readonly now: Sample,
    private readonly before: Sample | undefined,
  ) {}

  get seconds(): number {
    if (this.before !== undefined) return Math.max(0.001, (this.now.at - this.before.at) / 1000);
    const started = this.now.of('process_start_time_seconds').map(({ value }) => value);
    return started.length === 0 ? 1 : Math.max(1, Date.now() / 1000 - Math.min(...started));
  }

  /** The growth of a counter. A counter that fell was reset by a restart. */
  grown(name: string, fits?: (labels: ScrapedSeries['labels']) => boolean): number {
    const now = this.now.sum(name, fits);
    const before = this.before?.sum(name, fits) ?? 0;
    return now < before ? now : now - before;
  }

  perSecond(name: string, fits?: (labels: ScrapedSeries['labels']) => boolean): number {
    return this.grown(name, fits) / this.seconds;
  }

  /**
   * The bucket bound at this quantile of the observations, given from 0 to 1; undefined if there were no observations.
   */
  quantile(name: string, part: number, fits: (labels: ScrapedSeries['labels']) => boolean = () => true) {
    const bucket = `${name}_bucket`;
    const bounds = [...new Set(this.now.of(bucket).map(({ labels }) => labels.le ?? ''))]
      .map((text) => ({ text, bound: text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text) }))
      .sort((a, b) => a.bound - b.bound);
    const counts = bounds.map(({ text }) => this.grown(bucket, (labels) => labels.le === text && fits(labels)));
    const total = counts.at(-1) ?? 0;
    if (total === 0) return undefined;
    const index = counts.findIndex((count) => count >= total * part);
    const upper = bounds[index]?.bound ?? Number.POSITIVE_INFINITY;
    const lower = index > 0 ? (bounds[index - 1]?.bound ?? 0) : 0;
    if (!Number.isFinite(upper)) return lower;
    const below = index > 0 ? (counts[index - 1] ?? 0) : 0;
    const inside = (counts[index] ?? 0) - below;
    return inside === 0 ? upper : lower + ((upper - lower) * (total * part - below)) / inside;
  }

  /** Requests by verb and resource, the most frequent first. */
  requests(): RequestRow[] {
    const total = 'apiserver_request_total';
    const duration = 'apiserver_request_duration_seconds';
    const keys = new Map<string, { readonly verb: string; readonly resource: string }>();
    for (const { labels } of this.now.of(total)) {
      const { verb = '', resource = '', subresource = '' } = labels;
      const shown =
        resource === '' ? subresource || '(other)' : subresource === '' ? resource : `${resource}/${subresource}`;
      keys.set(`${verb} ${shown}`, { verb, resource: shown });
    }
    return [...keys.values()]
      .map(({ verb, resource }) => {
        const fits = (labels: ScrapedSeries['labels']) => {
          const { resource: own = '', subresource = '' } = labels;
          const shown = own === '' ? subresource || '(other)' : subresource === '' ? own : `${own}/${subresource}`;
          return labels.verb === verb && shown === resource;
        };
        return {
          verb,
          resource,
          perSecond: this.perSecond(total, fits),
          errorsPerSecond: this.perSecond(total, (labels) => fits(labels) && /^5|^429$/.test(labels.code ?? '')),
          p50: this.quantile(duration, 0.5, fits),
          p99: this.quantile(duration, 0.99, fits),
        };
      })
      .filter(({ perSecond }) => perSecond > 0)
      .sort((a, b) => b.perSecond - a.perSecond);
  }

  /** The priority levels, the busiest first; none when flow control is off. */
  flows(): FlowRow[] {
    const prefix = 'apiserver_flowcontrol_';
    const levels = [...new Set(this.now.of(`${prefix}current_limit_seats`).map(({ labels }) => labels.priority_level))];
    return levels
      .map((level = '') => {
        const fits = (labels: ScrapedSeries['labels']) => labels.priority_level === level;
        return {
          level,
          seats: this.now.sum(`${prefix}current_limit_seats`, fits),
          running: this.now.sum(`${prefix}current_executing_seats`, fits),
          waiting: this.now.sum(`${prefix}current_inqueue_requests`, fits),
          refusedPerSecond: this.perSecond(`${prefix}rejected_requests_total`, fits),
        };
      })
      .sort((a, b) => b.running + b.waiting - (a.running + a.waiting) || (a.level < b.level ? -1 : 1));
  }
}
