import type { Registry } from 'prom-client';
import { nextStarts } from './next-starts.js';
import { type FlowInfo, flowLabelNames, flowLabels, ScrapedMetrics } from './scraped-metrics.js';

/**
 * The metrics of flow control, under the names and labels that dashboards know. All are computed from the counts of
 * levels and schemas at each scrape, so a request costs no look-up of labels, and removed levels and schemas leave no
 * series.
 */
export function registerFlowMetrics(registry: Registry, info: FlowInfo): void {
  const metrics = new ScrapedMetrics(registry, info);
  addRequestCounts(metrics, info);
  addRequestHistograms(metrics, info);
  addSeats(metrics);
  addQueueProgress(metrics, info);
  addUtilization(metrics, info);
}

/** The counts of requests of each schema. */
function addRequestCounts(metrics: ScrapedMetrics, info: FlowInfo): void {
  metrics.ofSeries('counter', 'dispatched_requests_total', 'Requests that began to be answered.', (s) => s.dispatched);
  metrics.add(
    'rejected_requests_total',
    'counter',
    'Requests refused by flow control.',
    [...flowLabelNames, 'reason'],
    function* () {
      for (const series of info.series()) {
        for (const [reason, value] of Object.entries(series.rejected)) {
          if (value > 0) yield { labels: { ...flowLabels(series), reason }, value };
        }
      }
    },
  );
  metrics.ofSeries('gauge', 'current_inqueue_requests', 'Requests that wait in queues.', (s) => s.inQueue);
  metrics.ofSeries('gauge', 'current_inqueue_seats', 'Seats that waiting requests want.', (s) => s.inQueueSeats);
  metrics.ofSeries('gauge', 'current_executing_requests', 'Requests that have their seats.', (s) => s.running);
  metrics.ofSeries('gauge', 'current_executing_seats', 'Seats in use, the initial ones.', (s) => s.runningSeats);
  metrics.ofSeries(
    'counter',
    'request_dispatch_no_accommodation_total',
    'How often the next request in line found too few free seats.',
    (s) => s.blocked,
  );
}

/** Histograms of the duration and the seats of requests, by schema. */
function addRequestHistograms(metrics: ScrapedMetrics, info: FlowInfo): void {
  metrics.histogram('request_wait_duration_seconds', 'Time in a queue.', [...flowLabelNames, 'execute'], function* () {
    for (const series of info.series()) {
      yield { labels: { ...flowLabels(series), execute: 'true' }, counts: series.waited.true };
      yield { labels: { ...flowLabels(series), execute: 'false' }, counts: series.waited.false };
    }
  });
  metrics.histogram('request_execution_seconds', 'Time with seats.', [...flowLabelNames, 'type'], function* () {
    for (const series of info.series()) {
      yield { labels: { ...flowLabels(series), type: 'regular' }, counts: series.executed.regular };
      yield { labels: { ...flowLabels(series), type: 'watch' }, counts: series.executed.watch };
    }
  });
  metrics.histogram(
    'request_queue_length_after_enqueue',
    'Length of a queue after a request joined it.',
    flowLabelNames,
    function* () {
      for (const series of info.series()) yield { labels: flowLabels(series), counts: series.queueLengths };
    },
  );
  metrics.histogram(
    'work_estimated_seats',
    'Seats that a request is expected to take at most.',
    flowLabelNames,
    function* () {
      for (const series of info.series()) yield { labels: flowLabels(series), counts: series.seats };
    },
  );

  metrics.histogram('watch_count_samples', 'Watches that received a write.', flowLabelNames, function* () {
    for (const series of info.series()) yield { labels: flowLabels(series), counts: series.watchers };
  });
}

/** The seats of each level. */
function addSeats(metrics: ScrapedMetrics): void {
  metrics.ofLevel('nominal_limit_seats', 'Nominal number of seats.', ({ limits }) => limits.nominal);
  metrics.ofLevel('lower_limit_seats', 'Seats that are never lent.', ({ limits }) => limits.lower);
  metrics.ofLevel('upper_limit_seats', 'Seats with all that may be borrowed.', ({ limits }) => limits.upper);
  metrics.ofLevel(
    'current_limit_seats',
    'Seats for now, with what is lent or borrowed.',
    ({ currentSeats }) => currentSeats,
  );
  metrics.ofLevel('request_concurrency_limit', 'The older name of the nominal limit.', ({ limits }) => limits.nominal);
  metrics.ofLevel(
    'demand_seats_high_watermark',
    'Most seats wanted at one time in the last period.',
    (l) => l.lastDemand.highest,
  );
  metrics.ofLevel(
    'demand_seats_average',
    'Average of the wanted seats in the last period.',
    (l) => l.lastDemand.average,
  );
  metrics.ofLevel(
    'demand_seats_stdev',
    'Deviation of the wanted seats in the last period.',
    (l) => l.lastDemand.deviation,
  );
  metrics.ofLevel(
    'demand_seats_smoothed',
    'Wanted seats, smoothed over minutes.',
    ({ smoothedDemand }) => smoothedDemand,
  );
  metrics.ofLevel('target_seats', 'What the level would get if there were enough.', ({ targetSeats }) => targetSeats);
}

/** How far virtual time has advanced in the queues of each level. */
function addQueueProgress(metrics: ScrapedMetrics, info: FlowInfo): void {
  metrics.ofLevel('current_r', 'Virtual time of the queues, in seat-seconds.', ({ requests }) => requests.currentR);
  metrics.ofLevel('dispatch_r', 'Virtual time when a request left its queue last.', (l) => l.requests.lastDispatch.r);
  metrics.ofLevel('latest_s', 'Virtual time at which that request was to begin.', (l) => l.requests.lastDispatch.s);
  for (const [name, which, what] of [
    ['next_s_bounds', 'next', ''],
    ['next_discounted_s_bounds', 'discounted', ', without the expected work of what runs'],
  ] as const) {
    const help = `The least and the most, over the queues, of the virtual time at which the next request begins${what}.`;
    metrics.add(name, 'gauge', help, ['priority_level', 'bound'], function* () {
      for (const level of info.levels()) {
        const bounds = nextStarts(level.requests)?.[which];
        if (bounds === undefined) continue;
        for (const bound of ['min', 'max'] as const) {
          yield { labels: { priority_level: level.name, bound }, value: bounds[bound] };
        }
      }
    });
  }
}

/** How many of their seats the levels use. */
function addUtilization(metrics: ScrapedMetrics, info: FlowInfo): void {
  metrics.add('seat_fair_frac', 'gauge', 'The part of its target that each level gets.', [], () => [
    { labels: {}, value: info.fairFraction },
  ]);
  metrics.addNamed(
    'plinth_tenant_spacing',
    'gauge',
    'Time between two requests of the only demanding tenant, as a multiple of the time that one takes; 0 while there is room for all.',
    [],
    () => [{ labels: {}, value: info.spacing }],
  );
  metrics.histogram(
    'demand_seats',
    'Wanted seats over the nominal limit, over time.',
    ['priority_level'],
    function* () {
      for (const { name, utilization } of info.levels()) {
        yield { labels: { priority_level: name }, counts: utilization.demand };
      }
    },
  );
  metrics.histogram(
    'priority_level_seat_utilization',
    'Seats in use over the current limit, over time.',
    ['priority_level', 'phase'],
    function* () {
      for (const { name, utilization } of info.levels()) {
        yield { labels: { priority_level: name, phase: 'executing' }, counts: utilization.seats };
      }
    },
  );
  metrics.histogram(
    'priority_level_request_utilization',
    'Requests over their possible number, over time.',
    ['priority_level', 'phase'],
    function* () {
      for (const { name, utilization } of info.levels()) {
        yield { labels: { priority_level: name, phase: 'waiting' }, counts: utilization.waiting };
        yield { labels: { priority_level: name, phase: 'executing' }, counts: utilization.executing };
      }
    },
  );
  metrics.histogram(
    'read_vs_write_current_requests',
    'Requests over the limit of their kind, over time.',
    ['phase', 'request_kind'],
    function* () {
      for (const { kind, phase, counts } of info.kinds()) yield { labels: { phase, request_kind: kind }, counts };
    },
  );
  metrics.addNamed(
    'apiserver_current_inqueue_requests',
    'gauge',
    'Requests that wait in queues, by kind.',
    ['request_kind'],
    () => Object.entries(info.inQueue).map(([kind, value]) => ({ labels: { request_kind: kind }, value })),
  );
}
