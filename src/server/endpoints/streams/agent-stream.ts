import type { OutgoingHttpHeaders } from 'node:http';
import type { ExchangeAnswer } from '../../../base/outgoing/exchange.js';
import type { StreamOptions } from './connect-options.js';
import type { StreamEnd } from './stream-end.js';

/** The dependencies of a stream to an agent. */
export interface AgentStream {
  /** Sends the request with the given headers instead of the client's. */
  readonly ask: (method: string, headers: OutgoingHttpHeaders) => Promise<Extract<ExchangeAnswer, { kind: 'upgrade' }>>;
  readonly options: StreamOptions;
  readonly end: StreamEnd;
}
