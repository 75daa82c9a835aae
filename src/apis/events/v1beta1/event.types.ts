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
  time,
} from '../../../machinery/schema/index.js';
import { eventSource } from '../../core/v1/event.types.js';
import { objectReference } from '../../core/v1/reference.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { eventSeries } from '../v1/event.types.js';

export const event = kind(
  { group: 'events', version: 'v1beta1', kind: 'Event', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    eventTime: required(2, microTime),
    series: pointer(3, eventSeries),
    reportingController: optional(4, string),
    reportingInstance: optional(5, string),
    action: optional(6, string),
    reason: optional(7, string),
    regarding: always(8, objectReference),
    related: pointer(9, objectReference),
    note: optional(10, string),
    type: optional(11, string),
    deprecatedSource: always(12, eventSource),
    deprecatedFirstTimestamp: always(13, time),
    deprecatedLastTimestamp: always(14, time),
    deprecatedCount: optional(15, int32),
  },
);
export type Event = Infer<typeof event>;

export const eventList = listKind(event);
export type EventList = Infer<typeof eventList>;
