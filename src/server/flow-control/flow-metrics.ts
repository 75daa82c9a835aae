import type { Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { BucketCounts } from './bucket-counts.js';
import type { FlowSeries } from './flow-series.js';
import { nextStarts } from './next-starts.js';
import type { PriorityLevel } from './priority-level.js';

type Labels = Readonly<Record<string, string>>;
type Value = { readonly value: number; readonly labels: Labels; readonly metricName?: string };

/** The data that the metrics are computed from at each scrape. */
export interface FlowInfo {
  series(): Iterable<FlowSeries>;
  levels(): Iterable<PriorityLevel>;
  /** Requests by kind: those in queues and those with seats, over time. */
  kinds(): Iterable<{ readonly kind: string; readonly phase: string; readonly counts: BucketCounts }>;
  readonly inQueue: Readonly<Record<'readOnly' | 'mutating', number>>;
  readonly fairFraction: number;
}

const prefix = 'apiserver_flowcontrol_';
const ofFlow = ['priority_level', 'flow_schema'] as const;

/**
 * The metrics of flow control, under the names and labels that dashboards know. All are computed from the counts of
 * levels and schemas at each scrape, so a request costs no look-up of labels, and removed levels and schemas leave no
 * series.
 */
export function registerFlowMetrics(registry: Registry, facts: FlowInfo): void {
  const add = (
    name: string,
    type: 'counter' | 'gauge' | 'histogram',
    help: string,
    labelNames: readonly string[],
    values: () => Iterable<Value>,
  ) => {
    const get = () =>
      Promise.resolve({
        name,
        help,
        type,
        aggregator: 'sum',
        values: [...values()],
      } as unknown as MetricObjectWithValues<MetricValue<string>>);
    // The registry uses only the name and the get() function of a metric.
    registry.registerMetric({ name, type, help, labelNames, get, reset: () => undefined } as unknown as Metric);
  };
  const flow = ({ schema, level }: FlowSeries): Labels => ({ priority_level: level, flow_schema: schema });
  const ofSeries = (type: 'counter' | 'gauge', name: string, help: string, value: (series: FlowSeries) => number) =>
    add(`${prefix}${name}`, type, help, ofFlow, function* () {
      for (const series of facts.series()) yield { labels: flow(series), value: value(series) };
    });
  const ofLevel = (name: string, help: string, value: (level: PriorityLevel) => number) =>
    add(`${prefix}${name}`, 'gauge', help, ['priority_level'], function* () {
      for (const level of facts.levels()) yield { labels: { priority_level: level.name }, value: value(level) };
    });
  const histogram = (
    name: string,
    help: string,
    labelNames: readonly string[],
    series: () => Iterable<{ readonly labels: Labels; readonly counts: BucketCounts }>,
  ) =>
    add(`${prefix}${name}`, 'histogram', help, labelNames, function* () {
      for (const { labels, counts } of series()) yield* histogramValues(`${prefix}${name}`, labels, counts);
    });

  ofSeries('counter', 'dispatched_requests_total', 'Requests that began to be answered.', (s) => s.dispatched);
  add(
    `${prefix}rejected_requests_total`,
    'counter',
    'Requests refused by flow control.',
    [...ofFlow, 'reason'],
    function* () {
      for (const series of facts.series()) {
        for (const [reason, value] of Object.entries(series.rejected)) {
          if (value > 0) yield { labels: { ...flow(series), reason }, value };
        }
      }
    },
  );
  ofSeries('gauge', 'current_inqueue_requests', 'Requests that wait in queues.', (s) => s.inQueue);
  ofSeries('gauge', 'current_inqueue_seats', 'Seats that waiting requests want.', (s) => s.inQueueSeats);
  ofSeries('gauge', 'current_executing_requests', 'Requests that have their seats.', (s) => s.running);
  ofSeries('gauge', 'current_executing_seats', 'Seats in use, the initial ones.', (s) => s.runningSeats);
  ofSeries(
    'counter',
    'request_dispatch_no_accommodation_total',
    'How often the next request in line found too few free seats.',
    (s) => s.blocked,
  );
  histogram('request_wait_duration_seconds', 'Time in a queue.', [...ofFlow, 'execute'], function* () {
    for (const series of facts.series()) {
      yield { labels: { ...flow(series), execute: 'true' }, counts: series.waited.true };
      yield { labels: { ...flow(series), execute: 'false' }, counts: series.waited.false };
    }
  });
  histogram('request_execution_seconds', 'Time with seats.', [...ofFlow, 'type'], function* () {
    for (const series of facts.series()) {
      yield { labels: { ...flow(series), type: 'regular' }, counts: series.executed.regular };
      yield { labels: { ...flow(series), type: 'watch' }, counts: series.executed.watch };
    }
  });
  histogram('request_queue_length_after_enqueue', 'Length of a queue after a request joined it.', ofFlow, function* () {
    for (const series of facts.series()) yield { labels: flow(series), counts: series.queueLengths };
  });
  histogram('work_estimated_seats', 'Seats that a request is expected to take at most.', ofFlow, function* () {
    for (const series of facts.series()) yield { labels: flow(series), counts: series.seats };
  });

  histogram('watch_count_samples', 'Watches that were told of a write.', ofFlow, function* () {
    for (const series of facts.series()) yield { labels: flow(series), counts: series.watchers };
  });

  ofLevel('nominal_limit_seats', 'Nominal number of seats.', ({ limits }) => limits.nominal);
  ofLevel('lower_limit_seats', 'Seats that are never lent.', ({ limits }) => limits.lower);
  ofLevel('upper_limit_seats', 'Seats with all that may be borrowed.', ({ limits }) => limits.upper);
  ofLevel('current_limit_seats', 'Seats for now, with what is lent or borrowed.', ({ currentSeats }) => currentSeats);
  ofLevel('request_concurrency_limit', 'The older name of the nominal limit.', ({ limits }) => limits.nominal);
  ofLevel(
    'demand_seats_high_watermark',
    'Most seats wanted at one time in the last period.',
    (l) => l.lastDemand.highest,
  );
  ofLevel('demand_seats_average', 'Average of the wanted seats in the last period.', (l) => l.lastDemand.average);
  ofLevel('demand_seats_stdev', 'Deviation of the wanted seats in the last period.', (l) => l.lastDemand.deviation);
  ofLevel('demand_seats_smoothed', 'Wanted seats, smoothed over minutes.', ({ smoothedDemand }) => smoothedDemand);
  ofLevel('target_seats', 'What the level would get if there were enough.', ({ targetSeats }) => targetSeats);
  ofLevel('current_r', 'Virtual time of the queues, in seat-seconds.', ({ requests }) => requests.currentR);
  ofLevel('dispatch_r', 'Virtual time when a request left its queue last.', (l) => l.requests.lastDispatch.r);
  ofLevel('latest_s', 'Virtual time at which that request was to begin.', (l) => l.requests.lastDispatch.s);
  for (const [name, which, what] of [
    ['next_s_bounds', 'next', ''],
    ['next_discounted_s_bounds', 'discounted', ', without the expected work of what runs'],
  ] as const) {
    const help = `The least and the most, over the queues, of the virtual time at which the next request begins${what}.`;
    add(`${prefix}${name}`, 'gauge', help, ['priority_level', 'bound'], function* () {
      for (const level of facts.levels()) {
        const bounds = nextStarts(level.requests)?.[which];
        if (bounds === undefined) continue;
        for (const bound of ['min', 'max'] as const) {
          yield { labels: { priority_level: level.name, bound }, value: bounds[bound] };
        }
      }
    });
  }
  add(`${prefix}seat_fair_frac`, 'gauge', 'The part of its target that each level gets.', [], () => [
    { labels: {}, value: facts.fairFraction },
  ]);
  histogram('demand_seats', 'Wanted seats over the nominal limit, over time.', ['priority_level'], function* () {
    for (const { name, utilization } of facts.levels()) {
      yield { labels: { priority_level: name }, counts: utilization.demand };
    }
  });
  histogram(
    'priority_level_seat_utilization',
    'Seats in use over the current limit, over time.',
    ['priority_level', 'phase'],
    function* () {
      for (const { name, utilization } of facts.levels()) {
        yield { labels: { priority_level: name, phase: 'executing' }, counts: utilization.seats };
      }
    },
  );
  histogram(
    'priority_level_request_utilization',
    'Requests over their possible number, over time.',
    ['priority_level', 'phase'],
    function* () {
      for (const { name, utilization } of facts.levels()) {
        yield { labels: { priority_level: name, phase: 'waiting' }, counts: utilization.waiting };
        yield { labels: { priority_level: name, phase: 'executing' }, counts: utilization.executing };
      }
    },
  );
  histogram(
    'read_vs_write_current_requests',
    'Requests over the limit of their kind, over time.',
    ['phase', 'request_kind'],
    function* () {
      for (const { kind, phase, counts } of facts.kinds()) yield { labels: { phase, request_kind: kind }, counts };
    },
  );
  add('apiserver_current_inqueue_requests', 'gauge', 'Requests that wait in queues, by kind.', ['request_kind'], () =>
    Object.entries(facts.inQueue).map(([kind, value]) => ({ labels: { request_kind: kind }, value })),
  );
}

function* histogramValues(name: string, labels: Labels, { bounds, counts, sum }: BucketCounts): Iterable<Value> {
  let count = 0;
  const total = counts.reduce((all, one) => all + one, 0);
  if (total === 0) return;
  for (const [i, inBucket] of counts.entries()) {
    count += inBucket;
    const le = bounds[i] === undefined ? '+Inf' : String(bounds[i]);
    yield { value: count, labels: { ...labels, le }, metricName: `${name}_bucket` };
  }
  yield { value: sum, labels, metricName: `${name}_sum` };
  yield { value: count, labels, metricName: `${name}_count` };
}
