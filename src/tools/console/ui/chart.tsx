import { useSignal } from '@preact/signals';
import { type ChartPoint, isInSight, lastValue, linePath, roundAbove, valueAt } from './chart-shape.js';
import { realNow } from './clock.js';
import { clockText } from './time-text.js';

export interface ChartLine {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  /** `limit`: what the others are measured against, such as a capacity. */
  readonly look?: 'first' | 'second' | 'limit';
}

interface ChartProps {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  /** A value as people read it, with its unit. */
  readonly text: (value: number) => string;
  /** Longer pauses between points are gaps, in milliseconds. */
  readonly gapMs: number;
  /** Whether the values are bytes. */
  readonly isBinary?: boolean;
}

const [width, height] = [600, 120];
/** The shortest span that is drawn, so that the first points don't jump, in milliseconds. */
const shortestMs = 120_000;

/** Lines over time. Their values are shown beside them as text, and under the pointer for each moment. */
export function Chart({ title, lines, text, gapMs, isBinary = false }: ChartProps) {
  const pointed = useSignal<number | undefined>(undefined);
  const measured = lines.filter(({ look }) => look !== 'limit');
  const times = measured.flatMap(({ points }) => points.map(([time]) => time));
  if (times.length === 0) return null;
  const to = Math.max(...times);
  const from = Math.min(Math.min(...times), to - shortestMs);
  const highest = (points: readonly ChartPoint[]) => Math.max(...points.map(([, value]) => value ?? 0));
  const peak = Math.max(...measured.map(({ points }) => highest(points)));
  const drawn = lines.filter(({ points, look }) => look !== 'limit' || isInSight(highest(points), peak));
  const most = roundAbove(Math.max(...drawn.map(({ points }) => highest(points))), isBinary);
  const area = { from, to, most, width, height, gapMs };
  const at = pointed.value;
  const time = at === undefined ? undefined : from + at * (to - from);
  const shown = (points: readonly ChartPoint[]) =>
    time === undefined ? lastValue(points) : valueAt(points, time)?.[1];
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        {lines.map(({ name, points, look = 'first' }) => {
          const value = shown(points);
          return (
            <span key={name} class={look}>
              <i aria-hidden="true" /> {name} <b>{value === undefined ? '—' : text(value)}</b>
            </span>
          );
        })}
        {time !== undefined && <span class="quiet">at {clockText(time, realNow.value)}</span>}
      </figcaption>
      <div
        class="plot"
        role="img"
        aria-label={summaryOf(title, measured, text)}
        onPointerMove={(event) => {
          const { left, width: wide } = event.currentTarget.getBoundingClientRect();
          pointed.value = Math.max(0, Math.min(1, (event.clientX - left) / wide));
        }}
        onPointerLeave={() => {
          pointed.value = undefined;
        }}
      >
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {[0, 0.5, 1].map((share) => (
            <path key={share} class="rule" d={`M0,${height * share}h${width}`} />
          ))}
          {drawn.map(({ name, points, look = 'first' }) => (
            <path key={name} class={look} d={linePath(points, area)} />
          ))}
          {at !== undefined && <path class="pointer" d={`M${(at * width).toFixed(1)},0v${height}`} />}
        </svg>
        <span class="most">{text(most)}</span>
      </div>
      <p class="ends quiet" aria-hidden="true">
        <span>{clockText(from, realNow.value)}</span>
        <span>{clockText(to, realNow.value)}</span>
      </p>
    </figure>
  );
}

function summaryOf(title: string, lines: readonly ChartLine[], text: (value: number) => string): string {
  const parts = lines.map(({ name, points }) => {
    const values = points.flatMap(([, value]) => (value === undefined ? [] : [value]));
    if (values.length === 0) return `${name}: nothing measured`;
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return `${name}: ${text(values.at(-1) ?? 0)} now, between ${text(least)} and ${text(most)}`;
  });
  return `${title}. ${parts.join('; ')}.`;
}
