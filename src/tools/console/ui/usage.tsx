import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiFault } from './api-fault.js';
import { Chart, type ChartLine } from './chart.js';
import { type Kinds, pathOf } from './kinds.js';
import { moment } from './moment.js';
import { bytesText } from './server-numbers.js';
import { kinds, liveApi, session } from './session.js';
import type { UsageLimits } from './usage-limits.js';
import { totalUsage, type UsagePoint, usageOf, usageStepMs, withPoint } from './usage-points.js';

/** What is measured: a node, a pod, or all nodes together. */
export interface Measured {
  readonly resource: 'nodes' | 'pods';
  readonly namespace: string;
  /** Empty: all nodes together. */
  readonly name: string;
}

interface Series {
  readonly measured: Measured;
  readonly points: ReturnType<typeof signal<readonly UsagePoint[]>>;
  /** Why nothing is measured. */
  readonly problem: ReturnType<typeof signal<string>>;
  /** How many charts show it. */
  shown: number;
  /** When it was last shown, in milliseconds since 1970. */
  seen: number;
}

/** What has been measured, kept while the page is open: for an hour after it was shown last. */
const series = new Map<string, Series>();
const mostSeries = 40;
const keptMs = 3_600_000;

session.subscribe((login) => {
  if (login === null) series.clear();
});

setInterval(() => {
  if (!document.hidden && session.value) for (const each of series.values()) void readOnce(each);
}, usageStepMs);

function seriesOf(measured: Measured): Series {
  const key = `${measured.resource}/${measured.namespace}/${measured.name}`;
  const known = series.get(key);
  if (known !== undefined) return known;
  for (const [old, { shown, seen }] of series) {
    if (shown === 0 && (series.size >= mostSeries || Date.now() - seen > keptMs)) series.delete(old);
  }
  const made: Series = {
    measured,
    points: signal<readonly UsagePoint[]>([]),
    problem: signal(''),
    shown: 0,
    seen: Date.now(),
  };
  series.set(key, made);
  void readOnce(made);
  return made;
}

function groupOf({ all }: Kinds): { readonly group: string; readonly version: string } | undefined {
  return all.find(({ group, resource }) => group.startsWith('metrics.') && resource === 'nodes');
}

/** Reads one more point. Pods are measured while they are shown, nodes also in between, so that their line has no gap. */
async function readOnce({ measured, points, problem, shown }: Series): Promise<void> {
  const found = kinds.peek() === undefined ? undefined : groupOf(kinds.peek() as Kinds);
  if (found === undefined || (measured.resource === 'pods' && shown === 0 && (points.value ?? []).length > 0)) return;
  const { resource, namespace, name } = measured;
  const path = pathOf({ ...found, resource }, namespace, name === '' ? undefined : name);
  try {
    const metrics = await liveApi.json<{ readonly items?: readonly unknown[] }>(path);
    const all = name === '' ? (metrics.items ?? []) : [metrics];
    const now = Date.now();
    const point = totalUsage(all.map((each) => usageOf(each, now)).filter((each) => each !== undefined));
    problem.value = '';
    if (point !== undefined) points.value = withPoint(points.value ?? [], point);
  } catch (error) {
    const isForbidden = error instanceof ApiFault && error.code === 403;
    problem.value = isForbidden ? (error as Error).message : '';
  }
}

interface UsageProps {
  readonly measured: Measured;
  readonly limits?: UsageLimits | undefined;
}

/** Processors and memory over the last hour; nothing where usage is not measured. The past has no usage. */
export function Usage({ measured, limits }: UsageProps) {
  const { resource, namespace, name } = measured;
  const found = seriesOf(measured);
  useEffect(() => {
    const shown = seriesOf({ resource, namespace, name });
    shown.shown++;
    return () => {
      shown.shown--;
      shown.seen = Date.now();
    };
  }, [resource, namespace, name]);
  if (moment.value !== undefined) return null;
  const points = (found.points as ReadonlySignal<readonly UsagePoint[]>).value;
  if (points.length === 0) {
    const problem = found.problem.value ?? '';
    return problem === '' ? null : <p class="quiet">Usage can’t be shown: {problem}</p>;
  }
  const line = (of: (point: UsagePoint) => number): ChartLine => ({
    name: 'used',
    points: points.map((point) => [point.time, of(point)] as const),
  });
  const limit = (value: number): readonly ChartLine[] => {
    const [first, last] = [points[0]?.time ?? 0, points.at(-1)?.time ?? 0];
    if (limits === undefined || !(value > 0)) return [];
    return [
      {
        name: limits.name,
        look: 'limit',
        points: [[Math.min(first, last - 120_000), value] as const, [last, value] as const],
      },
    ];
  };
  const gapMs = usageStepMs * 4;
  return (
    <section class="charts" aria-label="Usage">
      <Chart title="CPU" text={coresText} gapMs={gapMs} lines={[line(({ cpu }) => cpu), ...limit(limits?.cpu ?? 0)]} />
      <Chart
        title="Memory"
        text={bytesText}
        isBinary
        gapMs={gapMs}
        lines={[line(({ memory }) => memory), ...limit(limits?.memory ?? 0)]}
      />
    </section>
  );
}

/** Processors as people read them: `0.25 cores`. */
export function coresText(cores: number): string {
  if (cores === 0) return '0';
  if (cores < 0.0995) return `${(cores * 1000).toFixed(cores < 0.00995 ? 1 : 0)} m`;
  return `${cores.toFixed(cores < 10 ? 2 : 0)} cores`;
}
