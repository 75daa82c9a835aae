import { formatFlagDuration } from '../../base/config/flag-duration.js';
import type { FlowPage, FlowTable } from '../../base/observability/flow-table.js';
import type { FlowSubject } from './flow-subject.js';
import type { PriorityLevel } from './priority-level.js';
import type { Queue, Ticket } from './queue.js';

const zeroTime = '0001-01-01T00:00:00Z';
const inOrder = (a: PriorityLevel, b: PriorityLevel) => (a.name < b.name ? -1 : 1);

export function flowTable(page: FlowPage, levels: Iterable<PriorityLevel>): FlowTable {
  switch (page) {
    case 'levels':
      return levelsTable(levels);
    case 'queues':
      return queuesTable(levels);
    default:
      return requestsTable(levels, page === 'details');
  }
}

/** Values separated by commas, with spaces that align the columns. */
export function formatTable({ head, rows }: FlowTable): string {
  const texts = [head, ...rows].map((row) => row.map((cell, i) => (i < row.length - 1 ? `${cell},` : cell)));
  const widths = head.map((_, i) => texts.reduce((most, row) => Math.max(most, (row[i] ?? '').length), 0));
  return texts
    .map((row) => row.map((cell, i) => (i < row.length - 1 ? cell.padEnd((widths[i] as number) + 1) : cell)).join(''))
    .map((line) => `${line}\n`)
    .join('');
}

/** Joins the tables of several processes into one, whose last column is the number of the process. */
export function joinTables(tables: readonly { readonly worker: number; readonly table: FlowTable }[]): FlowTable {
  return {
    head: [...(tables[0]?.table.head ?? []), 'Worker'],
    rows: tables.flatMap(({ worker, table }) => table.rows.map((row) => [...row, String(worker)])),
  };
}

function levelsTable(levels: Iterable<PriorityLevel>): FlowTable {
  const head = [
    'PriorityLevelName',
    'ActiveQueues',
    'IsIdle',
    'IsQuiescing',
    'WaitingRequests',
    'ExecutingRequests',
    'DispatchedRequests',
    'RejectedRequests',
    'TimedoutRequests',
    'CancelledRequests',
  ];
  const rows = [...levels]
    .sort(inOrder)
    .map(({ name, requests, isQuiescing, counts }) => [
      name,
      requests.activeQueues,
      requests.isIdle,
      isQuiescing,
      requests.waiting,
      requests.running,
      counts.dispatched,
      counts.rejected,
      counts.timedOut,
      counts.cancelled,
    ]);
  return table(head, rows);
}

function queuesTable(levels: Iterable<PriorityLevel>): FlowTable {
  const head = [
    'PriorityLevelName',
    'Index',
    'PendingRequests',
    'ExecutingRequests',
    'SeatsInUse',
    'NextDispatchR',
    'InitialSeatsSum',
    'MaxSeatsSum',
    'TotalWorkSum',
  ];
  const rows = [...levels]
    .sort(inOrder)
    .flatMap(({ name, requests }) => [...requests.allQueues()].map((queue) => queueRow(name, queue)));
  return table(head, rows);
}

function queueRow(level: string, queue: Queue<FlowSubject>): unknown[] {
  const most = queue.waiting.reduce((sum, { work }) => sum + Math.max(work.initialSeats, work.finalSeats), 0);
  return [
    level,
    queue.index,
    queue.waiting.length,
    queue.running.size,
    queue.seatsInUse,
    seatSeconds(queue.nextDispatchR),
    queue.waitingSeats,
    most,
    seatSeconds(queue.waitingWork),
  ];
}

/** All requests that are waiting or have seats. */
function requestsTable(levels: Iterable<PriorityLevel>, withDetails: boolean): FlowTable {
  const head = [
    'PriorityLevelName',
    'FlowSchemaName',
    'QueueIndex',
    'RequestIndexInQueue',
    'FlowDistingsher',
    'ArriveTime',
    'InitialSeats',
    'FinalSeats',
    'AdditionalLatency',
    'StartTime',
  ];
  const details = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];
  const rows: unknown[][] = [];
  for (const level of [...levels].sort(inOrder)) {
    for (const ticket of level.requests.withoutQueue()) rows.push(requestRow(level, ticket, -1, -1, withDetails));
    for (const { index, waiting, running } of level.requests.allQueues()) {
      for (const ticket of running) rows.push(requestRow(level, ticket, index, -1, withDetails));
      for (const [i, ticket] of waiting.entries()) rows.push(requestRow(level, ticket, index, i, withDetails));
    }
  }
  return table(withDetails ? [...head, ...details] : head, rows);
}

function requestRow(
  level: PriorityLevel,
  { subject, work, arrivedAt, startedAt }: Ticket<FlowSubject>,
  queueIndex: number,
  index: number,
  withDetails: boolean,
): unknown[] {
  const { schema, distinguisher, receivedAt, user, info } = subject;
  const started = startedAt === undefined ? zeroTime : timeText(receivedAt + startedAt - arrivedAt);
  const row = [
    level.name,
    schema.name,
    queueIndex,
    index,
    safe(distinguisher),
    timeText(receivedAt),
    work.initialSeats,
    work.finalSeats,
    formatFlagDuration(work.additionalLatencyMs),
    started,
  ];
  if (!withDetails) return row;
  const { verb, path, namespace, name, apiVersion, resource, subresource } = info;
  return [...row, ...[user.name, verb, path, namespace, name, apiVersion, resource, subresource].map(safe)];
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function seatSeconds(value: number): string {
  return `${value.toFixed(8)}ss`;
}

/** Escapes a user name, which may contain any characters, so that it can't create another row or column. */
function safe(text: string): string {
  return /[\p{Cc},"]/u.test(text) ? JSON.stringify(text).replaceAll(',', '\\u002c') : text;
}

function table(head: readonly string[], rows: readonly (readonly unknown[])[]): FlowTable {
  return { head, rows: rows.map((row) => row.map(String)) };
}
