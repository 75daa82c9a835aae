import { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '../machinery/request-context.js';
import type { ClientTls } from '../outgoing/client-config.js';
import type { ClientCredentials } from '../outgoing/client-credentials.js';
import { connectionReason } from '../outgoing/connection-reason.js';
import { DeniedAddressError, type DeniedAddresses } from '../outgoing/denied-addresses.js';
import { GuardedAgent } from '../outgoing/https-connections.js';
import { ServiceFault, type ServiceResolver } from '../outgoing/service-resolver.js';
import { identityHeaders } from './forwarded-headers.js';
import type { IdentityFields } from './identity-fields.js';
import type { RemoteApi } from './known-api-service.js';
import type { PublishedIdentity } from './published-identity.js';

/** Why an extension server gave no usable answer. The message may be shown to clients. */
export class BackendFault extends Error {}

/** One request to an extension server. */
export interface BackendCall {
  readonly method: string;
  /** With the query, as it goes on the wire. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Streamed as it comes; undefined: no body. */
  readonly body?: Readable | undefined;
  /** Ends the call and its answer. */
  readonly signal: AbortSignal;
  /** How long the head of the answer may take, in milliseconds. */
  readonly headLimitMs: number;
  /** Whether the other side may switch to another protocol. */
  readonly mayUpgrade?: boolean;
}

export type BackendAnswer =
  | { readonly kind: 'response'; readonly response: IncomingMessage }
  | {
      readonly kind: 'upgrade';
      readonly response: IncomingMessage;
      readonly socket: Duplex;
      /** The first bytes of the other protocol. */
      readonly head: Buffer;
    };

/** What all backends of a process share. */
export interface BackendParts {
  readonly services: ServiceResolver;
  readonly denied: DeniedAddresses;
  /** The certificate that this server shows. */
  readonly credentials: Pick<ClientCredentials, 'tls'>;
  /** In which fields it says who a request is from. */
  readonly identity: Pick<PublishedIdentity, 'get'>;
}

const connectLimitMs = 10_000;
/** Each new attempt may go to another endpoint. */
const maxAttempts = 3;
const maxHeadBytes = 64 * 1024;
/** Servers send a few informational answers at most. */
const maxInformational = 32;

/** Requests that one backend may have under way: more wait for nothing but it, and would fill the process. */
export const backendSeats = { requests: 256, longRunning: 4096 } as const;

/** A call that did not reach the other side. */
class Unsent extends Error {
  constructor(readonly reason: Error) {
    super(reason.message);
  }
}

/** The extension server behind a service, on kept-alive connections of its own. */
export class Backend {
  /** Host of its requests. */
  readonly host: string;
  private readonly serverName: string;
  private agent: { readonly own: ClientTls; readonly agent: GuardedAgent } | undefined;
  private readonly taken = { requests: 0, longRunning: 0 };

  constructor(
    readonly remote: RemoteApi,
    private readonly parts: BackendParts,
  ) {
    this.serverName = `${remote.service}.${remote.namespace}.svc`;
    this.host = remote.port === 443 ? this.serverName : `${this.serverName}:${remote.port}`;
  }

  /** The fields in which the extension server learns who a request is from. */
  identity(): Promise<IdentityFields> {
    return this.parts.identity.get();
  }

  /** The head of a request for JSON that this server makes on its own. */
  async headersAs(user: UserInfo): Promise<OutgoingHttpHeaders> {
    return { ...identityHeaders(user, await this.identity()), host: this.host, accept: 'application/json' };
  }

  /** Takes a seat among the requests under way; undefined when there is none. The result gives it back, once. */
  enter(isLongRunning: boolean): (() => void) | undefined {
    const kind = isLongRunning ? 'longRunning' : 'requests';
    if (this.taken[kind] >= backendSeats[kind]) return undefined;
    this.taken[kind]++;
    let isTaken = true;
    return () => {
      if (isTaken) this.taken[kind]--;
      isTaken = false;
    };
  }

  /**
   * Sends a request. A request that could not be sent is tried again, perhaps at another endpoint; one that may have
   * been received is not.
   *
   * @throws BackendFault; the reason of the signal when it is aborted.
   */
  async call(call: BackendCall): Promise<BackendAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        call.signal.throwIfAborted();
        return await this.attempt(call, await this.connections());
      } catch (error) {
        call.signal.throwIfAborted();
        const reason = error instanceof Unsent ? error.reason : (error as Error);
        const isFinal = reason instanceof ServiceFault || reason instanceof DeniedAddressError;
        if (error instanceof Unsent && !isFinal && attempt < maxAttempts) continue;
        if (reason instanceof BackendFault) throw reason;
        throw new BackendFault(connectionReason(reason), { cause: reason });
      }
    }
  }

  /** Closes the idle connections now and the others as soon as they are idle. */
  retire(): void {
    if (this.agent !== undefined) retire(this.agent.agent);
    this.agent = undefined;
  }

  /** Connections that show the certificate in force. */
  private async connections(): Promise<GuardedAgent> {
    const own = await this.parts.credentials.tls();
    if (this.agent?.own === own) return this.agent.agent;
    this.retire();
    const { remote, parts } = this;
    const tls: ClientTls = {
      ...own,
      ca: remote.caBundle === '' ? undefined : Buffer.from(remote.caBundle, 'base64').toString('utf8'),
      serverName: this.serverName,
      insecureSkipVerify: remote.insecureSkipTLSVerify,
    };
    const agent = new GuardedAgent(tls, {
      // The seats limit them.
      maxSockets: Number.POSITIVE_INFINITY,
      denied: parts.denied,
      target: () => parts.services.resolve(remote.namespace, remote.service, remote.port),
    });
    this.agent = { own, agent };
    return agent;
  }

  private attempt(call: BackendCall, agent: GuardedAgent): Promise<BackendAnswer> {
    const { method, path, headers, body, signal, headLimitMs } = call;
    return new Promise((resolve, reject) => {
      let isBegun = false;
      let informational = 0;
      const sent = request({
        agent,
        host: this.serverName,
        port: this.remote.port,
        method,
        path,
        headers,
        maxHeaderSize: maxHeadBytes,
        signal,
      });
      const fail = (error: Error) => {
        clearTimeout(limit);
        body?.unpipe(sent);
        sent.destroy();
        // A kept connection may have been closed by the other side just when it was used. What has no body was not
        // consumed, and reads have no effects.
        const isStale = sent.reusedSocket && isReset(error) && body === undefined && isRead(method);
        reject(isBegun && !isStale ? error : new Unsent(error));
      };
      const limited = (ms: number, text: string) => setTimeout(() => fail(new BackendFault(text)), ms);
      let limit = limited(connectLimitMs, 'dial tcp: i/o timeout');
      const begin = () => {
        isBegun = true;
        clearTimeout(limit);
        limit = limited(headLimitMs, 'timeout awaiting response headers');
        if (body === undefined) sent.end();
        else body.pipe(sent);
      };
      const settle = (answer: BackendAnswer) => {
        clearTimeout(limit);
        resolve(answer);
      };
      // Also after the answer: a broken connection then shows in the answer's stream.
      sent.on('error', fail);
      sent.once('socket', (socket: TLSSocket) => {
        if (sent.reusedSocket) begin();
        else socket.once('secureConnect', begin);
      });
      sent.on('information', () => {
        informational++;
        if (informational > maxInformational) fail(new BackendFault('too many informational responses'));
      });
      sent.once('response', (response) => settle({ kind: 'response', response }));
      sent.once('upgrade', (response, socket, head) => {
        socket.on('error', () => socket.destroy());
        if (call.mayUpgrade === true && switchesAsAsked(response, headers)) {
          settle({ kind: 'upgrade', response, socket, head });
          return;
        }
        socket.destroy();
        fail(new BackendFault('the backend switched to a protocol that was not asked for'));
      });
    });
  }
}

function switchesAsAsked({ headers }: IncomingMessage, asked: OutgoingHttpHeaders): boolean {
  return headers.upgrade !== undefined && headers.upgrade.toLowerCase() === String(asked.upgrade).toLowerCase();
}

function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function retire(agent: GuardedAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
