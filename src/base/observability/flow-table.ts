/** Which part of the state of flow control is asked for: levels, queues, requests, or requests with who asks for what. */
export type FlowPage = 'levels' | 'queues' | 'requests' | 'details';

/** A part of the state of flow control in one process, in the columns that operators of such servers know. */
export interface FlowTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
