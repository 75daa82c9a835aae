/**
 * Which part of the state of flow control is requested: levels, queues, requests, or requests with their users and
 * resources.
 */
export type FlowPage = 'levels' | 'queues' | 'requests' | 'details';

/** A part of the state of flow control in one process, in the columns that operators of such servers know. */
export interface FlowTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
