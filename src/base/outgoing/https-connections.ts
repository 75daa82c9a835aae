import { Agent as HttpAgent } from 'node:http';
import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { ClientTls } from './client-config.js';
import type { DeniedAddresses } from './denied-addresses.js';
import { type HttpsAnswer, type HttpsRequest, httpsRequest } from './https-request.js';
import { retireAgent } from './retire-agent.js';
import { tlsOptions } from './tls-options.js';

/** Where a connection goes. */
export interface Target {
  /** An address or a name. */
  readonly host: string;
  readonly port: number;
}

export interface ConnectionSettings {
  /** The most connections at a time; further calls wait. */
  readonly maxSockets?: number;
  /** Addresses that connections must not go to. */
  readonly denied?: DeniedAddresses | undefined;
  /** Chooses the destination of each new connection instead of the host of the URL. If it throws, the call fails. */
  readonly target?: (() => Target) | undefined;
}

/** One GET request; the call fails with the signal's reason when that is aborted. */
export type Getting = Pick<HttpsRequest, 'url' | 'headers' | 'signal' | 'maxAnswerBytes'>;

/** One POST request; the call fails with the signal's reason when that is aborted. */
export type Posting = Getting & { readonly body: Buffer };

const defaultMaxSockets = 64;
const maxFreeSockets = 16;
const idleMs = 60_000;

type CreateConnection = Agent['createConnection'];

/** An agent whose kept-alive connections go to chosen and allowed addresses only. */
export class GuardedAgent extends Agent {
  constructor(
    tls: ClientTls,
    private readonly settings: ConnectionSettings,
  ) {
    super({
      keepAlive: true,
      maxSockets: settings.maxSockets ?? defaultMaxSockets,
      maxFreeSockets,
      // Closes connections that were unused for this long; those in use are not affected.
      timeout: idleMs,
      ...tlsOptions(tls),
    });
  }

  override createConnection(...[options, callback]: Parameters<CreateConnection>): Duplex | null | undefined {
    try {
      return super.createConnection(guarded(options, this.settings), callback);
    } catch (error) {
      process.nextTick(() => callback?.(error as Error, undefined as unknown as Duplex));
      return undefined;
    }
  }
}

/** {@link GuardedAgent} without encryption. */
export class GuardedPlainAgent extends HttpAgent {
  constructor(private readonly settings: Pick<ConnectionSettings, 'denied'>) {
    super({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets, timeout: idleMs });
  }

  override createConnection(
    ...[options, callback]: Parameters<HttpAgent['createConnection']>
  ): ReturnType<HttpAgent['createConnection']> {
    try {
      return super.createConnection(guarded(options, this.settings), callback);
    } catch (error) {
      process.nextTick(() => callback?.(error as Error, undefined as unknown as Duplex));
      return undefined;
    }
  }
}

/** The options of a connection with its final destination. Throws for a denied address. */
function guarded<T extends object>(options: T, { denied, target }: ConnectionSettings): T {
  const chosen = target === undefined ? {} : target();
  const connected = { ...options, ...chosen, ...(denied === undefined ? {} : { lookup: denied.lookup }) };
  const host = String((connected as { host?: unknown }).host ?? '');
  denied?.check(host.startsWith('[') ? host.slice(1, -1) : host);
  return connected;
}

/** Kept-alive HTTPS connections with one set of credentials. Redirects are left to the caller, and no proxy is used. */
export class HttpsConnections {
  private readonly agent: Agent;

  constructor(tls: ClientTls, settings: ConnectionSettings = {}) {
    this.agent = new GuardedAgent(tls, settings);
  }

  /** Sends one body and returns the response. Throws what the connection threw, or the reason of the signal. */
  post(posting: Posting): Promise<HttpsAnswer> {
    return this.call({ ...posting, method: 'POST', agent: this.agent });
  }

  /** Reads a response without sending a body; throws like {@link post}. */
  get(getting: Getting): Promise<HttpsAnswer> {
    return this.call({ ...getting, method: 'GET', agent: this.agent });
  }

  private async call(request: HttpsRequest): Promise<HttpsAnswer> {
    request.signal.throwIfAborted();
    try {
      return await httpsRequest(request);
    } catch (error) {
      request.signal.throwIfAborted();
      throw error;
    }
  }

  /** Closes idle connections now and the others as soon as they are idle. */
  retire(): void {
    retireAgent(this.agent);
  }

  /** Closes all connections. */
  stop(): void {
    this.agent.destroy();
  }
}
