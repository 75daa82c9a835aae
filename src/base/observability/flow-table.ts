/**
 * The part of the flow control state that is requested: levels, queues, requests, or requests with their users and
 * resources.
 */
export type FlowPage = 'levels' | 'queues' | 'requests' | 'details';

/** A part of the flow control state of one process, in the columns of the reference server. */
export interface FlowTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
