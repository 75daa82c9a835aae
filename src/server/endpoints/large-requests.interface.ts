import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LargeEvent } from './handlers/watch-event.js';
import type { HttpRequestContext } from './request-info/http-request-context.js';

/** Does the work on large objects in another thread, so that it does not block the event loop of this process. */
export interface LargeRequests {
  /**
   * Handles the request, which is already authenticated and authorized; if its body was read, it is in the context.
   * `definitionsAt` is the store version that the registry of this process reflects. Rejects with a 429 when too many
   * requests are waiting, a 504 or 503 when the work had to be terminated, and an AbortError when the client left
   * earlier.
   */
  forward(
    context: HttpRequestContext,
    request: FastifyRequest,
    reply: FastifyReply,
    definitionsAt: bigint,
  ): Promise<void>;
  /** Encodes a watch event. Rejects with a 504 or 503 when the work had to be terminated. */
  encode(event: LargeEvent): Promise<Buffer>;
  /** Stops, and refuses the requests in progress. */
  stop(): Promise<void>;
}

/** Makes the {@link LargeRequests} of the process, once the signing key of continue tokens is known. */
export type OpenLargeRequests = (continueKey: Uint8Array) => LargeRequests;

/** Injection token of {@link OpenLargeRequests}. */
export const LARGE_REQUESTS = Symbol('LargeRequests');
