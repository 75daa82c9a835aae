import type { OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { ClientCredentials } from '../../base/outgoing/client-credentials.js';
import type { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import type { ExchangeAnswer } from '../../base/outgoing/exchange.js';
import type { ServiceResolver } from '../../base/outgoing/service-resolver.js';
import type { PublishedIdentity } from './published-identity.js';

/** One request to an extension server. */
export interface BackendCall {
  readonly method: string;
  /** Path with the query, as it is sent. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** The body, streamed as it arrives; undefined if there is none. */
  readonly body?: Readable | undefined;
  /** Ends the call and its response. */
  readonly signal: AbortSignal;
  /** Time limit for the response head, in milliseconds; undefined if the signal ends the call in time. */
  readonly headLimitMs?: number | undefined;
  /** Whether the server may switch to another protocol. */
  readonly mayUpgrade?: boolean;
}

export type BackendAnswer = ExchangeAnswer;

/** The dependencies that all backends of a process share. */
export interface BackendDependencies {
  readonly services: ServiceResolver;
  readonly denied: DeniedAddresses;
  /** The certificate that this server presents. */
  readonly credentials: Pick<ClientCredentials, 'tls'>;
  /** The fields that identify the user of a request. */
  readonly identity: Pick<PublishedIdentity, 'get'>;
}

/**
 * Maximum number of concurrent requests to one backend: more would only wait for that backend, and fill the memory of
 * the process.
 */
export const backendSeats = { requests: 256, longRunning: 4096 } as const;
