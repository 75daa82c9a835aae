import { Agent as HttpAgent } from 'node:http';
import { Agent, request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { ClientTls } from './client-config.js';
import type { DeniedAddresses } from './denied-addresses.js';
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

/** One POST request. */
export interface Posting {
  readonly url: URL;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts the call; the call fails with the signal's reason. */
  readonly signal: AbortSignal;
  /** Longer responses fail with {@link AnswerSizeError}. */
  readonly maxAnswerBytes: number;
}

/** The response, whatever its status. */
export interface PostAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The target of a redirect. */
  readonly location: string | undefined;
}

/** A response that is longer than the caller accepts. */
export class AnswerSizeError extends Error {
  constructor(
    readonly status: number,
    readonly maxBytes: number,
  ) {
    super(`the answer has more than ${maxBytes} bytes`);
    this.name = 'AnswerSizeError';
  }
}

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
  async post(posting: Posting): Promise<PostAnswer> {
    posting.signal.throwIfAborted();
    try {
      return await this.send(posting, true);
    } catch (error) {
      posting.signal.throwIfAborted();
      throw error;
    }
  }

  private send(posting: Posting, mayRepeat: boolean): Promise<PostAnswer> {
    const { url, body, headers, signal, maxAnswerBytes } = posting;
    return new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        agent: this.agent,
        headers: { ...headers, 'content-length': body.length },
        signal,
      };
      let isAnswered = false;
      const sent = request(url, options, (response) => {
        isAnswered = true;
        const status = response.statusCode ?? 0;
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size <= maxAnswerBytes) chunks.push(chunk);
          else {
            reject(new AnswerSizeError(status, maxAnswerBytes));
            sent.destroy();
          }
        });
        response.on('error', reject);
        response.on('end', () => {
          const contentType = response.headers['content-type'] ?? '';
          const { location } = response.headers;
          resolve({ status, contentType, text: Buffer.concat(chunks).toString('utf8'), location });
        });
      });
      // Without a listener, an upgrade that was not requested ends the request without a response or an error.
      sent.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, contentType: '', text: '', location: undefined });
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The other side closed the kept-alive connection just when it was used, which does not mean that it is down.
        if (mayRepeat && !isAnswered && sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) {
          this.send(posting, false).then(resolve, reject);
        } else reject(error);
      });
      sent.end(body);
    });
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
