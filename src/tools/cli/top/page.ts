import type { Sample, Span } from '../../../base/observability/scrape/sample.js';
import { printable } from '../../backup/format/printable.js';

/** The narrowest page that is laid out. */
const leastWidth = 60;
/** The width of the other columns, beside the names of resources. */
const besideNames = 54;
const watchRows = 4;
const cacheRows = 4;
const flowRows = 5;

export interface PageSize {
  /** The width of the terminal; undefined: lines are as long as needed, and no name is cut. */
  readonly columns: number | undefined;
  /** The height of the terminal; undefined: as many lines as there are. */
  readonly rows: number | undefined;
}

/**
 * The page as lines without control characters, whatever names the server sends; none longer than the columns; a small
 * terminal shows its beginning.
 */
export function topPage(span: Span, server: string, size: PageSize, clock: Date): string[] {
  const { now } = span;
  const head = [...headOf(span, server, clock), ''];
  const tail = [...flowsOf(span, size), ...watchesOf(now), ...databaseOf(span)];
  const requests = span.requests();
  const rows = size.rows === undefined ? requests.length : Math.max(3, size.rows - head.length - tail.length - 3);
  const names = size.columns === undefined ? requests.map(({ resource }) => resource) : [];
  const width = longest(names, Math.max(leastWidth, size.columns ?? 0) - besideNames);
  const table = requests
    .slice(0, rows)
    .map(
      ({ verb, resource, perSecond, errorsPerSecond, p50, p99 }) =>
        `${cell(verb, 16)} ${cell(resource, width)} ${right(rate(perSecond), 8)} ${right(rate(errorsPerSecond), 8)} ${right(time(p50), 8)} ${right(time(p99), 8)}`,
    );
  const title = `${cell('REQUESTS', 16)} ${cell('', width)} ${right('/s', 8)} ${right('errors/s', 8)} ${right('p50', 8)} ${right('p99', 8)}`;
  const lines = [...head, title, ...(table.length === 0 ? ['none'] : table), '', ...tail];
  return lines.slice(0, size.rows).map((line) => printable(line).slice(0, size.columns).trimEnd());
}

function headOf(span: Span, server: string, clock: Date): string[] {
  const { now } = span;
  const cpu = span.perSecond('process_cpu_seconds_total');
  const workers = now.of('plinth_worker_up').length;
  const busy = (kind: string) =>
    now.sum('apiserver_current_inflight_requests', ({ request_kind }) => request_kind === kind);
  return [
    `plinth top - ${server} - ${clock.toISOString().slice(11, 19)} - over ${span.seconds.toFixed(span.seconds < 10 ? 1 : 0)} s`,
    `process   CPU ${(cpu * 100).toFixed(0)}%   memory ${bytes(now.sum('process_resident_memory_bytes'))}   ` +
      `event loop p99 ${time(now.most('nodejs_eventloop_lag_p99_seconds'))}${workers === 0 ? '' : `   workers ${now.sum('plinth_worker_up')}/${workers}`}`,
    `requests  ${rate(span.perSecond('apiserver_request_total'))}/s   in flight ${busy('readOnly')} reads, ${busy('mutating')} writes   ` +
      `p99 ${time(span.quantile('apiserver_request_duration_seconds', 0.99))}   refused ${rate(span.perSecond('apiserver_request_terminations_total'))}/s`,
  ];
}

function flowsOf(span: Span, { columns }: PageSize): string[] {
  const flows = span.flows();
  if (flows.length === 0) return [];
  const width = longest(columns === undefined ? flows.map(({ level }) => level) : [], 24);
  const rows = flows
    .slice(0, flowRows)
    .map(
      ({ level, seats, running, waiting, refusedPerSecond }) =>
        `${cell(level, width)} ${right(String(seats), 8)} ${right(String(running), 8)} ${right(String(waiting), 8)} ${right(rate(refusedPerSecond), 9)}`,
    );
  return [
    `${cell('FLOWS', width)} ${right('seats', 8)} ${right('in use', 8)} ${right('waiting', 8)} ${right('refused/s', 9)}`,
    ...rows,
    '',
  ];
}

function watchesOf(now: Sample): string[] {
  const watchers = [...now.of('plinth_registered_watchers')].filter(({ value }) => value > 0);
  const byKind = new Map<string, number>();
  for (const { labels, value } of watchers) byKind.set(labels.kind ?? '', (byKind.get(labels.kind ?? '') ?? 0) + value);
  const top = [...byKind].sort(([, a], [, b]) => b - a).slice(0, watchRows);
  const caches = [...now.of('plinth_watch_cache_bytes')].sort((a, b) => b.value - a.value).slice(0, cacheRows);
  const total = watchers.reduce((sum, { value }) => sum + value, 0);
  return [
    `WATCHES   ${total} open${top.length === 0 ? '' : `: ${top.map(([kind, count]) => `${kind} ${count}`).join(', ')}`}`,
    `caches    ${bytes(now.sum('plinth_watch_cache_bytes'))}${caches.length === 0 ? '' : `: ${caches.map(({ labels, value }) => `${labels.resource} ${bytes(value)}`).join(', ')}`}`,
    '',
  ];
}

function databaseOf(span: Span): string[] {
  const { now } = span;
  const operations = [
    ...new Set(now.of('storage_request_duration_seconds_count').map(({ labels }) => labels.operation ?? '')),
  ]
    .map((operation) => {
      const fits = ({ operation: own = '' }: Readonly<Record<string, string>>) => own === operation;
      const name = 'storage_request_duration_seconds';
      return {
        operation,
        perSecond: span.perSecond(`${name}_count`, fits),
        p99: span.quantile(name, 0.99, fits),
      };
    })
    .filter(({ perSecond }) => perSecond > 0)
    .sort((a, b) => b.perSecond - a.perSecond)
    .slice(0, 4);
  const batches = span.grown('storage_write_batch_size_count');
  const perBatch = batches === 0 ? 0 : span.grown('storage_write_batch_size_sum') / batches;
  return [
    `DATABASE  size ${bytes(now.most('apiserver_storage_size_bytes'))}   objects ${objects(now)}   log read ${time(now.most('storage_feed_age_seconds'))} ago   errors ${rate(span.perSecond('storage_errors_total'))}/s`,
    `writes    ${rate(span.perSecond('storage_write_batch_size_sum'))}/s in batches of ${perBatch.toFixed(1)}   waiting ${now.sum('workqueue_depth', ({ name }) => name === 'storage-writes')}`,
    `calls     ${operations.length === 0 ? 'none' : operations.map(({ operation, perSecond, p99 }) => `${operation} ${rate(perSecond)}/s p99 ${time(p99)}`).join(', ')}`,
  ];
}

/** Each process counts all objects, so the highest count of each resource is used. */
function objects(now: Sample): number {
  const byResource = new Map<string, number>();
  for (const { labels, value } of now.of('apiserver_storage_objects')) {
    const { resource = '' } = labels;
    byResource.set(resource, Math.max(value, byResource.get(resource) ?? 0));
  }
  return [...byResource.values()].reduce((sum, count) => sum + count, 0);
}

/** The length of the longest string, but at least `least`. */
function longest(texts: readonly string[], least: number): number {
  return texts.reduce((most, { length }) => Math.max(most, length), least);
}

function cell(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text.padEnd(width);
}

function right(text: string, width: number): string {
  return text.padStart(width);
}

function rate(value: number): string {
  return value >= 100 || value === 0 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

function time(seconds: number | undefined): string {
  if (seconds === undefined) return '-';
  return seconds >= 1 ? `${seconds.toFixed(1)}s` : `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)}ms`;
}

function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let amount = value;
  let unit = 0;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${amount.toFixed(amount < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}
