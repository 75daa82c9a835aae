import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import { nameColumn, since } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

/** Columns of a table of events, in the form of the core group. */
export const eventColumns: readonly TableColumn<Event>[] = [
  {
    name: 'Last Seen',
    type: 'string',
    description: 'Time since it was last seen.',
    cell: (object) => since(lastSeen(object)),
  },
  {
    name: 'Type',
    type: 'string',
    description: 'Normal or Warning.',
    cell: (object) => object.type ?? '',
  },
  {
    name: 'Reason',
    type: 'string',
    description: 'Short reason of a machine-readable kind.',
    cell: (object) => object.reason ?? '',
  },
  {
    name: 'Object',
    type: 'string',
    description: 'What it is about.',
    cell: ({ involvedObject: { kind = '', name } }) => (name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase()),
  },
  {
    name: 'Subobject',
    type: 'string',
    priority: 1,
    description: 'Part of that object.',
    cell: (object) => object.involvedObject.fieldPath ?? '',
  },
  {
    name: 'Source',
    type: 'string',
    priority: 1,
    description: 'Who reports it.',
    cell: sourceText,
  },
  {
    name: 'Message',
    type: 'string',
    description: 'What happened.',
    cell: (object) => (object.message ?? '').trim(),
  },
  {
    name: 'First Seen',
    type: 'string',
    priority: 1,
    description: 'Time since it was first seen.',
    cell: (object) => since(firstSeen(object)),
  },
  {
    name: 'Count',
    type: 'string',
    priority: 1,
    description: 'How often it was seen.',
    cell: occurrences,
  },
  { ...nameColumn, priority: 1 },
];

function firstSeen(object: Event): string | null {
  return object.firstTimestamp ?? object.eventTime;
}

function lastSeen(object: Event): string | null {
  if (object.series !== undefined) return object.series.lastObservedTime;
  return object.lastTimestamp ?? firstSeen(object);
}

function occurrences(object: Event): number {
  return object.series === undefined ? object.count || 1 : (object.series.count ?? 0);
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source.component || reportingComponent;
  const host = source.host || reportingInstance;
  return host === '' ? component : `${component}, ${host}`;
}
