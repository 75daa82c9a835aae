import type { Registry } from 'prom-client';
import { Buckets } from './buckets.js';
import { CollectedMetric } from './collected-metric.js';
import type { SeriesLabels, SeriesValue } from './series.js';

/** The labels of a request metric. Every label has few possible values: never a string chosen by a client. */
export interface RequestLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: 'resource' | 'namespace' | 'cluster' | '';
}

/** The outcome of a request. */
export interface RequestOutcome {
  /** The HTTP code; 499 when the client left before the response. */
  readonly code: number;
  readonly dryRun: boolean;
  /**
   * Seconds from arrival to the end of the response; undefined for a long-running request, whose duration means
   * nothing.
   */
  readonly seconds: number | undefined;
  /** Seconds spent in webhook calls and waiting for a seat. */
  readonly waitedSeconds: number;
  /** Bytes of the response body. */
  readonly answerBytes: number;
  /** Bytes of the request's body; 0 if it had none or it was not read. */
  readonly bodyBytes: number;
  /** The server refused or aborted the request to protect itself: a 429, or a 504 because of the time limit. */
  readonly isTerminated: boolean;
  /** The response had begun and was cut off. */
  readonly isAborted: boolean;
}

/** The value of the label `component` that operators' dashboards expect. */
export const component = 'apiserver';

const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope'] as const;
const latencyBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sliBounds = latencyBounds.slice(2);
const answerBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const bodyBounds = Array.from({ length: 31 }, (_, i) => 50_000 + i * 100_000);

const failed = 500;
/**
 * Resources that are requested in every cluster. Dashboards add up reads of each scope: a sum with a missing term shows
 * nothing.
 */
const expected: readonly RequestLabels[] = (
  [
    ['GET', 'resource'],
    ['LIST', 'namespace'],
    ['LIST', 'cluster'],
    ['POST', 'namespace'],
  ] as const
).map(([verb, scope]) => ({ verb, group: '', version: 'v1', resource: 'pods', subresource: '', scope }));

const names = {
  total: { name: 'apiserver_request_total', help: 'Requests answered, by verb, resource and HTTP code.' },
  duration: {
    name: 'apiserver_request_duration_seconds',
    help: 'Time from arrival of a request to the end of its answer; long-running requests are left out.',
  },
  sli: {
    name: 'apiserver_request_sli_duration_seconds',
    help: 'The same without the time in webhooks and in queues: what the server itself is to blame for.',
  },
  answers: { name: 'apiserver_response_sizes', help: 'Bytes of the answers to reads (verbs GET and LIST).' },
  bodies: { name: 'apiserver_request_body_size_bytes', help: 'Bytes of the bodies of requests, as received.' },
  terminations: {
    name: 'apiserver_request_terminations_total',
    help: 'Requests that the server refused or ended to protect itself: too many of them, or over their time.',
  },
  aborts: {
    name: 'apiserver_request_aborts_total',
    help: 'Requests whose answer was cut after it had begun, by a time limit or a fault.',
  },
} as const;

/** The series that are counted separately for dry runs. */
class AnswerSeries {
  readonly codes: Map<number, number>;
  readonly latency = new Buckets(latencyBounds);

  constructor(codes: readonly (readonly [code: number, count: number])[] = []) {
    this.codes = new Map(codes);
  }
}

/** All counters of one set of labels. */
class RequestSeries {
  /** A first failure must be a rise from 0: collectors do not notice a series that begins with it. */
  readonly real = new AnswerSeries([[failed, 0]]);
  dryRun: AnswerSeries | undefined = undefined;
  readonly terminations = new Map<number, number>();
  aborts = 0;
  /** Whether the series is shown even if there was no request for it. */
  isExpected = false;
  readonly sli = new Buckets(sliBounds);
  readonly answers = new Buckets(answerBounds);

  constructor(
    readonly labels: RequestLabels,
    /** Body sizes of all requests of the same resource and verb. */
    readonly bodies: BodySeries,
  ) {}
}

interface BodySeries {
  readonly labels: { readonly group: string; readonly resource: string; readonly verb: string };
  readonly buckets: Buckets;
}

type Append = (values: SeriesValue[], series: RequestSeries, labels: SeriesLabels) => void;

/**
 * The request metrics, under the names, labels and buckets that operators' dashboards know. One lookup per request
 * finds all of its counters.
 */
export class RequestMetrics {
  private readonly series = new Map<string, RequestSeries>();
  private readonly bodies = new Map<string, BodySeries>();
  /** The series that was used last. */
  private last: RequestSeries | undefined;

  constructor(private readonly registry: Registry) {
    const { duration, sli, answers, bodies } = names;
    this.add('counter', names.total, [...requestLabels, 'code', 'dry_run', 'component'], (values, series, labels) => {
      eachAnswer(series, ({ codes }, dry_run) => appendCodes(values, codes, labels, { dry_run }));
    });
    this.add('histogram', duration, [...requestLabels, 'dry_run', 'component'], (values, series, labels) => {
      eachAnswer(series, ({ latency }, dry_run) =>
        latency.appendTo(values, duration.name, { ...labels, dry_run, component }),
      );
    });
    this.add('histogram', sli, [...requestLabels, 'component'], (values, series, labels) =>
      series.sli.appendTo(values, sli.name, { ...labels, component }, series.isExpected),
    );
    this.add('histogram', answers, [...requestLabels, 'component'], (values, series, labels) =>
      series.answers.appendTo(values, answers.name, { ...labels, component }),
    );
    this.add('counter', names.terminations, [...requestLabels, 'code', 'component'], (values, series, labels) =>
      appendCodes(values, series.terminations, labels),
    );
    this.add('counter', names.aborts, requestLabels, (values, { aborts }, labels) => {
      if (aborts > 0) values.push({ value: aborts, labels });
    });
    new CollectedMetric({ ...bodies, labelNames: ['group', 'resource', 'verb'] }, 'histogram', registry, () => {
      const values: SeriesValue[] = [];
      for (const { labels, buckets } of this.bodies.values()) buckets.appendTo(values, bodies.name, labels);
      return values;
    });
  }

  /** Creates the series that dashboards expect, at 0, in a process that will serve requests. */
  expect(): void {
    for (const labels of expected) this.seriesOf(labels).isExpected = true;
  }

  /** Counts a finished request. */
  done(labels: RequestLabels, outcome: RequestOutcome): void {
    const { code, seconds } = outcome;
    const series = this.seriesOf(labels);
    let answers = series.real;
    if (outcome.dryRun) {
      series.dryRun ??= new AnswerSeries();
      answers = series.dryRun;
    }
    increase(answers.codes, code);
    if (outcome.isTerminated) increase(series.terminations, code);
    if (outcome.isAborted) series.aborts++;
    if (outcome.bodyBytes > 0) series.bodies.buckets.observe(outcome.bodyBytes);
    if (seconds === undefined) return;
    answers.latency.observe(seconds);
    series.sli.observe(Math.max(0, seconds - outcome.waitedSeconds));
    if (labels.verb === 'GET' || labels.verb === 'LIST') series.answers.observe(outcome.answerBytes);
  }

  /** Drops what was counted for resources that are no longer served. */
  forget(isGone: (labels: { readonly group: string; readonly resource: string }) => boolean): void {
    this.last = undefined;
    for (const [key, { labels }] of this.series) if (isGone(labels)) this.series.delete(key);
    for (const [key, { labels }] of this.bodies) if (isGone(labels)) this.bodies.delete(key);
  }

  private add(
    type: 'counter' | 'histogram',
    head: { readonly name: string; readonly help: string },
    labelNames: readonly string[],
    append: Append,
  ): void {
    new CollectedMetric({ ...head, labelNames }, type, this.registry, () => {
      const values: SeriesValue[] = [];
      for (const series of this.series.values()) append(values, series, series.labels as unknown as SeriesLabels);
      return values;
    });
  }

  private seriesOf(labels: RequestLabels): RequestSeries {
    const { verb, group, version, resource, subresource, scope } = labels;
    // Requests of one sort mostly follow each other, and to make the key and to look for it takes longer than to compare.
    if (this.last !== undefined && areSame(this.last.labels, labels)) return this.last;
    const key = `${verb}\n${group}\n${version}\n${resource}\n${subresource}\n${scope}`;
    let series = this.series.get(key);
    if (series === undefined) {
      const own = { verb, group, version, resource, subresource, scope };
      series = new RequestSeries(own, this.bodiesOf({ group, resource, verb }));
      this.series.set(key, series);
    }
    this.last = series;
    return series;
  }

  private bodiesOf(labels: BodySeries['labels']): BodySeries {
    const key = `${labels.verb}\n${labels.group}\n${labels.resource}`;
    let bodies = this.bodies.get(key);
    if (bodies === undefined) {
      bodies = { labels, buckets: new Buckets(bodyBounds) };
      this.bodies.set(key, bodies);
    }
    return bodies;
  }
}

function areSame(a: RequestLabels, b: RequestLabels): boolean {
  return (
    a.verb === b.verb &&
    a.resource === b.resource &&
    a.scope === b.scope &&
    a.subresource === b.subresource &&
    a.version === b.version &&
    a.group === b.group
  );
}

function eachAnswer({ real, dryRun }: RequestSeries, visit: (answers: AnswerSeries, label: string) => void): void {
  visit(real, '');
  if (dryRun !== undefined) visit(dryRun, 'All');
}

function appendCodes(
  values: SeriesValue[],
  codes: ReadonlyMap<number, number>,
  labels: SeriesLabels,
  more: SeriesLabels = {},
): void {
  for (const [code, value] of codes) {
    values.push({ value, labels: { ...labels, code: String(code), ...more, component } });
  }
}

function increase(counts: Map<number, number>, code: number): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}
