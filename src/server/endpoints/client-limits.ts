import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { tooManyRequestsError } from '../../base/machinery/status-error.js';
import type { NoteCut } from './connection-cuts.js';

/** Limits for each client address; 0 means no limit. */
export interface AddressLimits {
  readonly connections: number;
  readonly requests: number;
}

/**
 * Counts the open connections of each client address, and its open requests including watches, so that one client can't
 * use up all resources. Addresses without open connections and requests take no memory.
 */
export class ClientLimits {
  private readonly connections = new Map<string, number>();
  private readonly requests = new Map<string, number>();

  constructor(private readonly limits: AddressLimits) {}

  /** Closes connections above the limit before any work is spent on them. */
  watch(server: Http2SecureServer, note: NoteCut = () => undefined): void {
    server.on('connection', (socket: Socket) => {
      const address = socket.remoteAddress;
      if (this.limits.connections === 0 || address === undefined) return;
      const count = this.connections.get(address) ?? 0;
      if (count >= this.limits.connections) {
        note('address-limit', { client: address });
        socket.destroy();
        return;
      }
      this.connections.set(address, count + 1);
      socket.once('close', () => leave(this.connections, address));
    });
  }

  /**
   * Throws a 429 above the limit. Otherwise the request counts until the returned function is called, which must happen
   * once.
   */
  enter(request: FastifyRequest): () => void {
    const { raw } = request;
    // The address is read now, because a closed socket no longer has it.
    const address = this.limits.requests === 0 ? undefined : raw.socket.remoteAddress;
    if (address === undefined) return nothing;
    const count = this.requests.get(address) ?? 0;
    if (count >= this.limits.requests) throw tooManyRequestsError(1);
    this.requests.set(address, count + 1);
    return () => leave(this.requests, address);
  }
}

const nothing = () => undefined;

function leave(counts: Map<string, number>, address: string): void {
  const count = (counts.get(address) ?? 0) - 1;
  if (count > 0) counts.set(address, count);
  else counts.delete(address);
}
