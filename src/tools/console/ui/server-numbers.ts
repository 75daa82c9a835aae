import type { Span } from '../../../base/observability/scrape/sample.js';

/** The numbers that the server page shows for one moment. Times are in seconds, rates per second. */
export interface ServerNumbers {
  readonly requests: number;
  readonly errors: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  readonly watches: number;
  /** Counts by kind, the most frequent kinds first. */
  readonly watchesByKind: readonly (readonly [kind: string, count: number])[];
  /** How long ago the log was read: the possible delay of watches. */
  readonly feedAge: number;
  readonly loopLag: number;
  /** CPU usage, in cores. */
  readonly cpu: number;
  readonly memory: number;
  readonly database: number;
}

const duration = 'apiserver_request_duration_seconds';
/** Requests with these verbs last as long as the client wants. */
const isShort = ({ verb = '' }: Readonly<Record<string, string>>) => !/^(WATCH|CONNECT)$/.test(verb);

export function serverNumbers(span: Span): ServerNumbers {
  const { now } = span;
  const watchers = new Map<string, number>();
  for (const { labels, value } of now.of('plinth_registered_watchers')) {
    const kind = labels.kind ?? '';
    if (value > 0) watchers.set(kind, (watchers.get(kind) ?? 0) + value);
  }
  const isError = ({ code = '' }: Readonly<Record<string, string>>) => /^5|^429$/.test(code);
  return {
    requests: span.perSecond('apiserver_request_total'),
    errors: span.perSecond('apiserver_request_total', isError),
    p50: span.quantile(duration, 0.5, isShort),
    p99: span.quantile(duration, 0.99, isShort),
    watches: [...watchers.values()].reduce((sum, count) => sum + count, 0),
    watchesByKind: [...watchers].sort(([, a], [, b]) => b - a),
    feedAge: now.most('storage_feed_age_seconds'),
    loopLag: now.most('nodejs_eventloop_lag_p99_seconds'),
    cpu: span.perSecond('process_cpu_seconds_total'),
    memory: now.sum('process_resident_memory_bytes'),
    database: now.most('apiserver_storage_size_bytes'),
  };
}

export function rateText(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function timeText(seconds: number | undefined): string {
  if (seconds === undefined) return '—';
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 0)} s`;
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const unit = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 2 ** (10 * unit)).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}
