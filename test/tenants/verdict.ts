import type { HonestProbes, ProbeName } from './honest-probes.js';
import { probeNames } from './honest-probes.js';
import { type HonestWork, type StepName, stepNames } from './honest-work.js';
import type { Peak } from './memory-watch.js';

/** How much slower honest requests may be during an attack. */
const mostSlower = 3;
/** How much slower control loops may be. */
const mostBehind = 5;
/**
 * Quiet times below this count as this much. The limit is then still below the 50 ms for which one request may hold the
 * event loop.
 */
const leastQuietMs = 16;
const leastQuietStepMs = 500;
/** The requests whose p99 is limited; those of other kinds are only shown. */
const judged: readonly ProbeName[] = ['get', 'lease', 'livez'];

/** The times of a kind of request. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
  readonly faults: readonly string[];
}

/** The results of honest tenants in a period. */
export interface Welfare {
  readonly probes: ReadonlyMap<ProbeName, Latency>;
  /** Medians in milliseconds, and faults. */
  readonly steps: ReadonlyMap<StepName, { readonly ms: number; readonly faults: readonly string[] }>;
}

/**
 * The smallest of the sorted values that at least this part of them does not exceed. With few values as with many, the
 * same part may be greater.
 */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

/** Times of `performance.now()`. */
export type Span = readonly [from: number, until: number];

export function welfareIn(spans: readonly Span[], probes: HonestProbes, work: HonestWork): Welfare {
  const latencies = probeNames.map((name) => {
    const outcomes = spans.flatMap(([from, until]) => probes.between(name, from, until));
    const sorted = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
    const faults = outcomes.flatMap(({ fault }) => fault ?? []);
    return [name, { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), count: sorted.length, faults }] as const;
  });
  const steps = stepNames.map((name) => {
    const taken = spans.flatMap(([from, until]) => work.between(name, from, until));
    const sorted = taken.map(({ ms }) => ms).sort((a, b) => a - b);
    return [name, { ms: quantile(sorted, 0.5), faults: taken.flatMap(({ fault }) => fault ?? []) }] as const;
  });
  return { probes: new Map(latencies), steps: new Map(steps) };
}

/** All complaints of honest tenants. */
export function complaints(quiet: Welfare, during: Welfare): string[] {
  return [...failures(during), ...delays(quiet, during)];
}

/** What may not happen even once: requests and steps that fail or never end. */
export function failures(during: Welfare): string[] {
  const found: string[] = [];
  for (const name of probeNames) {
    const { faults, count } = during.probes.get(name) as Latency;
    if (faults.length > 0) found.push(`${faults.length} of ${count} ${name} failed (${[...new Set(faults)].join()})`);
    else if (count === 0 && judged.includes(name)) found.push(`no ${name} came to an end`);
  }
  for (const name of stepNames) {
    const now = during.steps.get(name);
    if (now === undefined || Number.isNaN(now.ms)) found.push(`never ${name}`);
    for (const fault of new Set(now?.faults ?? [])) found.push(`${name}: ${fault.slice(0, 120)}`);
  }
  return found;
}

/** Times over their limits. They are estimates, and the worse the fewer samples they come from. */
export function delays(quiet: Welfare, during: Welfare): string[] {
  const found: string[] = [];
  for (const name of judged) {
    const before = quiet.probes.get(name) as Latency;
    const now = during.probes.get(name) as Latency;
    const limit = mostSlower * Math.max(before.p99, leastQuietMs);
    if (now.p99 > limit) found.push(`${name} p99 ${now.p99.toFixed(0)} ms, limit ${limit.toFixed(0)}`);
  }
  for (const name of stepNames) {
    const before = (quiet.steps.get(name)?.ms ?? Number.NaN) || leastQuietStepMs;
    const now = during.steps.get(name)?.ms ?? Number.NaN;
    const limit = mostBehind * Math.max(before, leastQuietStepMs);
    if (now > limit) found.push(`${name} after ${(now / 1000).toFixed(1)} s, limit ${(limit / 1000).toFixed(1)}`);
  }
  return found;
}

/** The step that slowed down most against its quiet time. */
export function slowestStep(quiet: Welfare, during: Welfare): string {
  const ratios = stepNames.map((name) => {
    const before = quiet.steps.get(name)?.ms ?? Number.NaN;
    const now = during.steps.get(name)?.ms ?? Number.NaN;
    return { name, ratio: now / before, now };
  });
  const [worst] = ratios.filter(({ ratio }) => !Number.isNaN(ratio)).sort((a, b) => b.ratio - a.ratio);
  return worst === undefined ? '-' : `${worst.name} ${(worst.now / 1000).toFixed(1)} s (x${worst.ratio.toFixed(1)})`;
}

/** Memory in MiB; values above their limit are marked. */
export function shownPeaks(peaks: readonly Peak[]): string {
  const mebi = (bytes: number) => String(Math.round(bytes / 2 ** 20));
  return peaks
    .map(({ name, resident, heap, isWithin }) => {
      const sizes = heap === undefined ? mebi(resident) : `${mebi(resident)}/${mebi(heap)}`;
      return `${name} ${sizes}${isWithin ? '' : ' (!)'}`;
    })
    .join(', ');
}
