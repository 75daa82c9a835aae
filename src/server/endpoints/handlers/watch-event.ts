import type { AcceptedType } from '../negotiation/accept.js';
import type { IncludeObject } from '../negotiation/include-object.js';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** The form in which a watch receives its objects. */
export interface WatchForm {
  readonly accepted: AcceptedType;
  readonly include: IncludeObject;
  /** Whether the table contains the columns: only the first table of a watch does. */
  readonly withColumns: boolean;
}

/** A stored state of an object. */
export interface WatchedText {
  readonly json: string;
  readonly resourceVersion: bigint;
}

/** An event of a watch, for encoding in another thread. */
export interface LargeEvent {
  readonly type: WatchEventType;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly form: WatchForm;
  readonly text: WatchedText;
  /** The version of the store that the registry of the process reflects. */
  readonly definitionsAt: bigint;
}
