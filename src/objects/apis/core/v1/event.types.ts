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
} from '../../../../base/machinery/schema/index.js';
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
    involvedObject: required(2, objectReference, { doc: 'What the event is about.' }),
    reason: optional(3, string, { doc: 'Short word for programs: what happened.' }),
    message: optional(4, string, { doc: 'Text for people: what happened.' }),
    source: always(5, eventSource, { doc: 'Who reported it.' }),
    firstTimestamp: always(6, time, { doc: 'When it happened first.' }),
    lastTimestamp: always(7, time, { doc: 'When it happened last.' }),
    count: optional(8, int32, { doc: 'How often it happened.' }),
    type: optional(9, string, { doc: 'Normal or Warning.' }),
    eventTime: always(10, microTime, { doc: 'When it happened first, exactly.' }),
    series: pointer(11, eventSeries, { doc: 'Repetitions.' }),
    action: optional(12, string, { doc: 'What was done.' }),
    related: pointer(13, objectReference, { doc: 'A second object that has to do with it.' }),
    reportingComponent: always(14, string, { doc: 'Program that reported it.' }),
    reportingInstance: always(15, string, { doc: 'Instance of the program.' }),
  },
  { doc: 'A report of something that happened to an object.' },
);
export type Event = Infer<typeof event>;

export const eventList = listKind(event);
export type EventList = Infer<typeof eventList>;
