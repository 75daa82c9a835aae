import type { Result } from './load.js';
import { works } from './load.js';
import type { Use } from './peer.js';

/** The results of one peer in one run. */
export interface Run {
  readonly results: ReadonlyMap<string, Result>;
  readonly server: Use;
  readonly store: Use;
}

/** The runs of a peer. */
export interface Measured {
  readonly name: string;
  readonly runs: readonly Run[];
}

function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
    : (sorted[Math.floor(middle)] ?? Number.NaN);
}

function shown(value: number): string {
  if (Number.isNaN(value)) return '-';
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}

/** The median over the runs of a peer. */
function summary({ runs }: Measured, work: string): Result {
  const of = (field: keyof Result) => median(runs.map(({ results }) => results.get(work)?.[field] ?? Number.NaN));
  return {
    count: of('count'),
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    errors: of('errors'),
    serverUs: of('serverUs'),
    storeUs: of('storeUs'),
  };
}

/** The rate of a peer as a multiple of the base's rate. */
function ratio(of: Measured, base: Measured, work: string): number {
  return summary(of, work).perSecond / summary(base, work).perSecond;
}

/**
 * A table of all kinds of work: for each peer how much per second (p50, p99 in ms), and for all but the base the ratio to
 * the base; then memory and processor time of the whole run.
 */
export function table(measured: readonly Measured[], base: Measured): string {
  const others = measured.filter((one) => one !== base);
  const head = ['Work', ...measured.map(({ name }) => name), ...others.map(({ name }) => `${name}, ratio`)];
  const rows = [...works.keys()]
    .filter((work) => measured.some(({ runs }) => runs.some(({ results }) => results.has(work))))
    .map((work) => [
      work,
      ...measured.map((one) => {
        const { perSecond, p50Ms, p99Ms, errors } = summary(one, work);
        const failed = errors > 0 ? `, ${shown(errors)} errors` : '';
        return `${shown(perSecond)} (${shown(p50Ms)}, ${shown(p99Ms)}${failed})`;
      }),
      ...others.map((one) => shown(ratio(one, base, work))),
    ]);
  const total = (title: string, of: (run: Run) => number) => [
    title,
    ...measured.map(({ runs }) => shown(median(runs.map(of)))),
    ...others.map(({ runs }) => (median(runs.map(of)) / median(base.runs.map(of))).toFixed(2)),
  ];
  const lines = [
    ...rows,
    total('memory of the server after the run, MiB', ({ server }) => server.bytes / 2 ** 20),
    total('memory of its store, MiB', ({ store }) => store.bytes / 2 ** 20),
    total('processor time of the server, seconds', ({ server }) => server.processorSeconds),
    total('processor time of its store, seconds', ({ store }) => store.processorSeconds),
  ];
  return [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/**
 * A table of what each kind of work costs: for each peer the processor time per request, of the server and of its store in
 * microseconds, and for all but the base how much more the base needs. Unlike what is done per second, it does not count what
 * the clients need, which share the processors.
 */
export function costs(measured: readonly Measured[], base: Measured): string {
  const others = measured.filter((one) => one !== base);
  const cost = (one: Measured, work: string) => {
    const { serverUs, storeUs } = summary(one, work);
    return serverUs + storeUs;
  };
  const head = ['Processor time', ...measured.map(({ name }) => name), ...others.map(({ name }) => `${name}, less by`)];
  const rows = [...works.keys()]
    .filter((work) => measured.some(({ runs }) => runs.some(({ results }) => results.has(work))))
    .map((work) => [
      work,
      ...measured.map((one) => {
        const { serverUs, storeUs } = summary(one, work);
        return `${shown(serverUs)} + ${shown(storeUs)}`;
      }),
      ...others.map((one) => shown(cost(base, work) / cost(one, work))),
    ]);
  return [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** A kind of work in which a peer is worse than the base. */
interface Lag {
  readonly work: string;
  readonly measure: string;
  readonly own: number;
  readonly other: number;
  /** How many times as much the worse one is; above 1. */
  readonly by: number;
}

/** Differences below this are noise of one run. */
const noise = 1.05;

/** Where a peer is behind the base: by rate, times or processor time; what is furthest behind comes first. */
function lagsOf(one: Measured, base: Measured): Lag[] {
  const lags: Lag[] = [];
  for (const work of works.keys()) {
    const [own, other] = [summary(one, work), summary(base, work)];
    const add = (measure: string, mine: number, its: number, isMoreBetter = false) => {
      const by = isMoreBetter ? its / mine : mine / its;
      if (by > noise && Number.isFinite(by)) lags.push({ work, measure, own: mine, other: its, by });
    };
    add('per second', own.perSecond, other.perSecond, true);
    add('p50, ms', own.p50Ms, other.p50Ms);
    add('p99, ms', own.p99Ms, other.p99Ms);
    add('processor time, us', own.serverUs + own.storeUs, other.serverUs + other.storeUs);
  }
  return lags.sort((a, b) => b.by - a.by);
}

/** The figures in which a peer is slower than the base, the largest difference first. */
export function behind(one: Measured, base: Measured): string {
  const lags = lagsOf(one, base);
  if (lags.length === 0) return `${one.name} is behind the ${base.name} nowhere.`;
  const head = ['Behind', 'Measure', one.name, base.name, 'by'];
  const rows = lags.map(({ work, measure, own, other, by }) => [
    work,
    measure,
    shown(own),
    shown(other),
    by.toFixed(2),
  ]);
  return [head, ['---', '---', '---:', '---:', '---:'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const colours = ['#1f77b4', '#17becf', '#7f7f7f', '#d62728'];
const [left, width, bar, gap] = [250, 760, 9, 10];

/** Bars of how much each peer does per second against the base, on a logarithmic axis, as SVG. */
export function bars(title: string, measured: readonly Measured[], base: Measured): string {
  const others = measured.filter((one) => one !== base);
  const names = [...works.keys()].filter((work) =>
    measured.some(({ runs }) => runs.some(({ results }) => results.has(work))),
  );
  const ratios = others.flatMap((one) => names.map((work) => ratio(one, base, work))).filter((value) => value > 0);
  const [low, high] = [Math.floor(Math.log10(Math.min(...ratios))), Math.ceil(Math.log10(Math.max(...ratios)))];
  const x = (value: number) => left + ((Math.log10(value) - low) / Math.max(1, high - low)) * (width - left - 40);
  const top = 44 + others.length * 16;
  const block = others.length * bar + gap;
  const height = top + names.length * block + 24;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="12" y="22" font-size="14">${title}</text>`,
  ];
  others.forEach(({ name }, i) => {
    const y = 34 + i * 16;
    parts.push(
      `<rect x="12" y="${y}" width="14" height="9" fill="${colours[i % colours.length]}"/>`,
      `<text x="32" y="${y + 9}">${name}</text>`,
    );
  });
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power).toFixed(1);
    parts.push(
      `<line x1="${at}" x2="${at}" y1="${top - 6}" y2="${height - 20}" stroke="${power === 0 ? '#333' : '#ddd'}"/>`,
      `<text x="${at}" y="${height - 6}" text-anchor="middle">${10 ** power}</text>`,
    );
  }
  names.forEach((work, row) => {
    const y = top + row * block;
    parts.push(`<text x="${left - 8}" y="${y + (others.length * bar) / 2 + 4}" text-anchor="end">${work}</text>`);
    others.forEach((one, i) => {
      const value = ratio(one, base, work);
      if (!(value > 0)) return;
      const [from, to] = [x(1), x(value)].sort((a, b) => a - b) as [number, number];
      parts.push(
        `<rect x="${from.toFixed(1)}" y="${y + i * bar}" width="${Math.max(1, to - from).toFixed(1)}" height="${bar - 1}" fill="${colours[i % colours.length]}"/>`,
      );
    });
  });
  parts.push('</svg>', '');
  return parts.join('\n');
}
