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
import { eventSource } from '../../core/v1/event.types.js';
import { objectReference } from '../../core/v1/reference.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const eventSeries = struct('events.v1.EventSeries', {
  count: required(1, int32),
  lastObservedTime: required(2, microTime),
});
export type EventSeries = Infer<typeof eventSeries>;

/** The kind Event, which is the same in both versions. */
export function eventKind(version: 'v1' | 'v1beta1') {
  return kind(
    { group: 'events', version, kind: 'Event', scope: 'Namespaced' },
    {
      metadata: always(1, objectMeta),
      eventTime: required(2, microTime, { doc: 'When it happened first, exactly.' }),
      series: pointer(3, eventSeries, { doc: 'Repetitions.' }),
      reportingController: optional(4, string, { doc: 'Program that reported it.' }),
      reportingInstance: optional(5, string, { doc: 'Instance of the program.' }),
      action: optional(6, string, { doc: 'What was done.' }),
      reason: optional(7, string, { doc: 'Short word for programs: what happened.' }),
      regarding: always(8, objectReference, { doc: 'What the event is about.' }),
      related: pointer(9, objectReference, { doc: 'A second object that has to do with it.' }),
      note: optional(10, string, { doc: 'Text for people: what happened.' }),
      type: optional(11, string, { doc: 'Normal or Warning.' }),
      deprecatedSource: always(12, eventSource),
      deprecatedFirstTimestamp: always(13, time),
      deprecatedLastTimestamp: always(14, time),
      deprecatedCount: optional(15, int32),
    },
    { doc: 'A report of something that happened to an object.' },
  );
}

export const event = eventKind('v1');
export type Event = Infer<typeof event>;

export const eventList = listKind(event);
export type EventList = Infer<typeof eventList>;
