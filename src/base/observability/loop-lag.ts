import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * How often the lag is sampled, in milliseconds. Each sample wakes an idle process. A sample always sees work that
 * holds the loop for longer than this.
 */
const sampleMs = 100;
const prefix = 'nodejs_eventloop_lag';

type Aggregator = 'average' | 'min' | 'max';

/** The lag in nanoseconds, for the samples of one scrape. */
const figures: readonly (readonly [
  name: string,
  help: string,
  aggregator: Aggregator,
  of: (samples: ELDHistogram) => number,
])[] = [
  ['min', 'The least lag since the last scrape.', 'min', ({ min }) => late(min)],
  ['max', 'The greatest lag since the last scrape.', 'max', ({ max }) => late(max)],
  ['mean', 'The mean lag since the last scrape.', 'average', ({ mean }) => late(mean)],
  ['stddev', 'The standard deviation of the lag since the last scrape.', 'average', ({ stddev }) => stddev],
  ['p50', 'The median of the lag since the last scrape.', 'average', (samples) => late(samples.percentile(50))],
  [
    'p90',
    'The 90th percentile of the lag since the last scrape.',
    'average',
    (samples) => late(samples.percentile(90)),
  ],
  [
    'p99',
    'The 99th percentile of the lag since the last scrape.',
    'average',
    (samples) => late(samples.percentile(99)),
  ],
];

/** The names of all metrics of the lag, which are those of the library. */
export const loopLagNames: readonly string[] = [
  `${prefix}_seconds`,
  ...figures.map(([name]) => `${prefix}_${name}_seconds`),
];

/**
 * Registers how late timers run, under the names that the library has for it. The library samples the lag a hundred times a
 * second, which is what an idle process would mostly be busy with, and includes the time between two samples in what it
 * reports. The time from a scrape to the next sample is not counted.
 */
export function registerLoopLag(registry: Registry): void {
  const registers = [registry];
  const samples = monitorEventLoopDelay({ resolution: sampleMs });
  samples.enable();
  // The first to be collected: it sets the values of the others.
  const current = new Gauge({
    name: `${prefix}_seconds`,
    help: 'How long the scrape waited for the event loop.',
    aggregator: 'average',
    registers,
    async collect() {
      const began = performance.now();
      const isEmpty = samples.count === 0;
      for (const { gauge, of } of gauges) gauge.set(isEmpty ? 0 : of(samples) / 1e9);
      samples.reset();
      await new Promise((resolve) => setImmediate(resolve));
      current.set((performance.now() - began) / 1000);
    },
  });
  const gauges = figures.map(([name, help, aggregator, of]) => ({
    gauge: new Gauge({ name: `${prefix}_${name}_seconds`, help, aggregator, registers }),
    of,
  }));
}

/** The lag of a sample, which is the time since the one before. */
function late(nanoseconds: number): number {
  return Math.max(0, nanoseconds - sampleMs * 1e6);
}
