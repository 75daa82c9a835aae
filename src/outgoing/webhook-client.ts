import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../machinery/clock.js';
import { systemClock } from '../machinery/clock.js';
import {
  type ClientAuth,
  type ClientConfig,
  ClientConfigError,
  type ClientTls,
  checkClientTls,
} from './client-config.js';

/** Time limits and retries of a client. Times are in milliseconds. */
export interface WebhookPolicy {
  /** Limit of one attempt, from the connection to the end of the answer. */
  readonly timeoutMs: number;
  /** How many attempts a call gets in all; 1: no retry. */
  readonly attempts: number;
  /** Wait before the second attempt; each further wait is half as long again, give or take a fifth. */
  readonly firstRetryMs: number;
  /** Longer answers count as failures. */
  readonly maxAnswerBytes: number;
}

/** For reviews: short questions that hold up a request. */
export const reviewPolicy: WebhookPolicy = Object.freeze({
  timeoutMs: 30_000,
  attempts: 5,
  firstRetryMs: 500,
  maxAnswerBytes: 1024 * 1024,
});

/** Replaceable parts; the defaults are those of the process. */
export interface WebhookParts {
  readonly clock: Clock;
  /** Rejects as soon as the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

const systemParts: WebhookParts = {
  clock: systemClock,
  wait: (ms, signal) => delay(ms, undefined, { signal }),
  random: Math.random,
};

/** A call without a usable answer. The message names the address and never contains the sent value. */
export class WebhookError extends Error {
  constructor(
    message: string,
    /** The HTTP status, if there was an answer. */
    readonly status: number | undefined,
    /** Whether another attempt may succeed. */
    readonly isTransient: boolean,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'WebhookError';
  }
}

const backOffFactor = 1.5;
const jitter = 0.2;
const maxSockets = 64;
/** After this time, a call that needs the files checks them again. */
const fileAgeMs = 10_000;

/**
 * Posts JSON to one remote service over https, on connections that are kept open. Connection errors and the answers 429
 * and 5xx are retried with growing waits. Redirects are not followed, since they could lead credentials astray.
 */
export class WebhookClient {
  private tls: ClientTls;
  private agent: Agent;
  private tlsReadAt: number;
  private readonly url: URL;
  private readonly stopping = new AbortController();
  private tokenOfFile: { readonly header: string; readonly until: number } | undefined;

  constructor(
    private readonly config: ClientConfig,
    private readonly policy: WebhookPolicy = reviewPolicy,
    private readonly parts: WebhookParts = systemParts,
  ) {
    this.url = new URL(config.server);
    this.tls = config.tls;
    this.agent = agentFor(config.tls);
    this.tlsReadAt = parts.clock.now();
  }

  /**
   * Sends a value and returns the JSON value of a 2xx answer. Throws {@link WebhookError} when all attempts fail, and
   * the reason of `signal` when that is aborted.
   */
  async post(value: unknown, signal: AbortSignal): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(value));
    const either = AbortSignal.any([signal, this.stopping.signal]);
    let waitMs = this.policy.firstRetryMs;
    for (let attempt = 1; ; attempt++) {
      either.throwIfAborted();
      try {
        return await this.attempt(body, either);
      } catch (error) {
        either.throwIfAborted();
        if (!(error instanceof WebhookError) || !error.isTransient || attempt >= this.policy.attempts) throw error;
      }
      const waited = this.parts.wait(waitMs * (1 - jitter + 2 * jitter * this.parts.random()), either);
      // An abort ends the wait; its own reason is thrown above.
      await waited.catch(() => undefined);
      waitMs *= backOffFactor;
    }
  }

  /** Ends calls under way and closes all connections. */
  stop(): void {
    this.stopping.abort(new WebhookError(`${this.where}: the client has been stopped`, undefined, false));
    this.agent.destroy();
  }

  private get where(): string {
    return `${this.url.origin}${this.url.pathname}`;
  }

  private async attempt(body: Buffer, signal: AbortSignal): Promise<unknown> {
    await this.refreshTls();
    const authorization = await this.authorization(this.config.auth);
    const limit = AbortSignal.timeout(this.policy.timeoutMs);
    const text = await this.send(body, authorization, AbortSignal.any([signal, limit]), true);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new WebhookError(`${this.where} does not answer with JSON`, undefined, false, error);
    }
  }

  private send(
    body: Buffer,
    authorization: string | undefined,
    signal: AbortSignal,
    mayRepeat: boolean,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': body.length,
        accept: 'application/json',
        'user-agent': 'plinth',
        ...(authorization === undefined ? {} : { authorization }),
      };
      const sent = request(this.url, { method: 'POST', agent: this.agent, headers, signal }, (response) => {
        const status = response.statusCode ?? 0;
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size <= this.policy.maxAnswerBytes) chunks.push(chunk);
          else {
            const limit = this.policy.maxAnswerBytes;
            reject(new WebhookError(`${this.where} answers with more than ${limit} bytes`, status, false));
            sent.destroy();
          }
        });
        response.on('error', (error) => reject(this.connectionError(error)));
        response.on('end', () => {
          if (status >= 200 && status < 300) resolve(Buffer.concat(chunks).toString('utf8'));
          else reject(new WebhookError(`${this.where} answers ${status}`, status, status === 429 || status >= 500));
        });
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The other side closed the kept connection just when it was used, which says nothing about its state.
        if (mayRepeat && sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) {
          this.send(body, authorization, signal, false).then(resolve, reject);
          return;
        }
        reject(this.connectionError(error));
      });
      sent.end(body);
    });
  }

  /**
   * Uses certificates that changed in their files for new connections. Calls under way keep the old ones. If the new
   * ones can't be used (a key that is ahead of its certificate), the old ones stay until the next look.
   */
  private async refreshTls(): Promise<void> {
    const { ca, cert, key } = this.config.files;
    const now = this.parts.clock.now();
    if ((ca ?? cert ?? key) === undefined || now < this.tlsReadAt + fileAgeMs) return;
    // Calls that come meanwhile use the present certificates.
    this.tlsReadAt = now;
    const read = async (path: string | undefined, known: string | undefined) =>
      path === undefined ? known : await readFile(path, 'utf8');
    try {
      const tls: ClientTls = {
        ...this.tls,
        ca: await read(ca, this.tls.ca),
        cert: await read(cert, this.tls.cert),
        key: await read(key, this.tls.key),
      };
      if (tls.ca === this.tls.ca && tls.cert === this.tls.cert && tls.key === this.tls.key) return;
      checkClientTls(tls, (problem) => new ClientConfigError(problem));
      const before = this.agent;
      this.tls = tls;
      this.agent = agentFor(tls);
      retire(before);
    } catch {
      // As above. A connection that fails because of them reports the reason.
    }
  }

  private connectionError(error: Error): WebhookError {
    const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
    const text = isLate ? `no answer within ${this.policy.timeoutMs} ms` : error.message;
    return new WebhookError(`${this.where} can't be reached: ${text}`, undefined, true, error);
  }

  private async authorization(auth: ClientAuth): Promise<string | undefined> {
    switch (auth.kind) {
      case 'none':
        return undefined;
      case 'bearer':
        return `Bearer ${auth.token}`;
      case 'basic':
        return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
      case 'bearerFile':
        return this.tokenFrom(auth.path);
    }
  }

  private async tokenFrom(path: string): Promise<string> {
    const now = this.parts.clock.now();
    const known = this.tokenOfFile;
    if (known !== undefined && now < known.until) return known.header;
    try {
      const header = `Bearer ${(await readFile(path, 'utf8')).trim()}`;
      this.tokenOfFile = { header, until: now + fileAgeMs };
      return header;
    } catch (error) {
      // The last readable token is used for as long as it is accepted.
      if (known !== undefined) return known.header;
      throw new WebhookError(`the token for ${this.where} can't be read`, undefined, true, error);
    }
  }
}

function agentFor({ ca, cert, key, serverName, insecureSkipVerify }: ClientTls): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !insecureSkipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  });
}

/** Closes idle connections now and the others as soon as they are idle. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
