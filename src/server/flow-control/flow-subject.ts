import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import type { FlowSeries } from './flow-series.js';

/** The request behind a ticket, with the data that reports and counts need. */
export interface FlowSubject {
  /** The schema that matched the request. */
  readonly schema: {
    readonly name: string;
    readonly series: FlowSeries;
    readonly level: { readonly counts: { dispatched: number } };
  };
  readonly distinguisher: string;
  /** The tenant whose requests are spaced while others wait for them; undefined: they never are. */
  readonly tenant: string | undefined;
  readonly user: UserInfo;
  readonly info: RequestInfo;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly isWatch: boolean;
  /** The expected time that the thread works on the events of a write, in milliseconds. */
  readonly eventsMs: number;
  readonly kind: 'readOnly' | 'mutating';
}
