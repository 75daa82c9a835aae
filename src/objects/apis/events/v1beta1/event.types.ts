import type { Infer } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { eventKind } from '../v1/event.types.js';

export const event = eventKind('v1beta1');
export type Event = Infer<typeof event>;

export const eventList = listKind(event);
export type EventList = Infer<typeof eventList>;
