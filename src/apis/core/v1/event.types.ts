import {
  always,
  type Infer,
  int32,
  kind,
  microTime,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { objectReference } from './reference.types.js';

export const eventSource = struct('core.v1.EventSource', {
  component: optional(1, string),
  host: optional(2, string),
});
export type EventSource = Infer<typeof eventSource>;

export const eventSeries = struct('core.v1.EventSeries', {
  count: optional(1, int32),
  lastObservedTime: always(2, microTime),
});
export type EventSeries = Infer<typeof eventSeries>;

export const event = kind(
  { group: '', version: 'v1', kind: 'Event', scope: 'Namespaced' },
  {
    metadata: required(1, objectMeta),
    involvedObject: required(2, objectReference),
    reason: optional(3, string),
    message: optional(4, string),
    source: always(5, eventSource),
    firstTimestamp: always(6, time),
    lastTimestamp: always(7, time),
    count: optional(8, int32),
    type: optional(9, string),
    eventTime: always(10, microTime),
    series: pointer(11, eventSeries),
    action: optional(12, string),
    related: pointer(13, objectReference),
    reportingComponent: always(14, string),
    reportingInstance: always(15, string),
  },
);
export type Event = Infer<typeof event>;

export const eventList = listKind(event);
export type EventList = Infer<typeof eventList>;
