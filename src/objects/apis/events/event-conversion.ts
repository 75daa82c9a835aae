import { jsonFields, type KindType } from '../../../base/machinery/schema/index.js';
import { type Event as CoreEvent, event as coreEventType } from '../core/v1/event.types.js';
import { type Event, event as eventType } from './v1/event.types.js';

/** Pairs of field names for the same fields: that of the events group, and that of the core group. */
const renamed: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toCoreNames = new Map(renamed);
const fromCoreNames = new Map(renamed.map(([own, core]) => [core, own]));

/** Converts an event to the form of the core group without loss. The new object shares its parts with the old one. */
export function toCoreEvent(event: Event): CoreEvent {
  // The core group always shows these fields; this group drops them when they are empty.
  const { reportingController = '', reportingInstance = '' } = event;
  const core = rename({ ...event, reportingController, reportingInstance }, toCoreNames, coreEventType);
  return core as unknown as CoreEvent;
}

/** The reverse of {@link toCoreEvent}. */
export function fromCoreEvent(core: CoreEvent): Event {
  const event = rename(core, fromCoreNames, eventType);
  for (const field of ['reportingController', 'reportingInstance']) if (event[field] === '') delete event[field];
  return event as unknown as Event;
}

/**
 * Renames fields and puts them in the order of the declaration, so that equal events have the same JSON, whichever
 * group wrote them.
 */
function rename(object: object, names: ReadonlyMap<string, string>, type: KindType): Record<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [field, value] of Object.entries(object)) values.set(names.get(field) ?? field, value);
  const result: Record<string, unknown> = {};
  for (const field of ['kind', 'apiVersion', ...jsonFields(type).keys()]) {
    if (values.has(field)) result[field] = values.get(field);
  }
  return result;
}
