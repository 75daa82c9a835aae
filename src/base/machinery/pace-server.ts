import type { Server } from 'node:http';
import { PacedReads } from './paced-reads.js';
import { PacedRequests } from './paced-requests.js';

/**
 * Keeps the clients of a server of HTTP/1.1 from holding up its process: by requests that they send ahead of the answers, by
 * heads of thousands of fields and by bodies in pieces of a few bytes. Must be called before the server listens, when
 * it has its only listener for requests.
 */
export function paceServer(server: Server): void {
  PacedRequests.watch(server);
  new PacedReads().watch(server);
}
