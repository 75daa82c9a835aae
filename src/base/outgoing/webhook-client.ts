import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../machinery/clock.js';
import { systemClock } from '../machinery/clock.js';
import { parseJson } from '../machinery/json/exact-numbers.js';
import { AnswerSizeError } from './answer-size-error.js';
import type { ClientConfig, ClientTls } from './client-config.js';
import { ClientCredentials } from './client-credentials.js';
import { HttpsConnections } from './https-connections.js';
import type { HttpsAnswer } from './https-request.js';
import { WebhookError } from './webhook-error.js';

/** Time limits and retries of a client. Times are in milliseconds. */
export interface WebhookPolicy {
  /** Limit of one attempt, from the connection to the end of the response. */
  readonly timeoutMs: number;
  /** The number of attempts of a call in all; 1 means no retry. */
  readonly attempts: number;
  /** Wait before the second attempt; each further wait is half as long again, with 20% jitter. */
  readonly firstRetryMs: number;
  /** Longer responses count as failures. */
  readonly maxAnswerBytes: number;
}

/** For reviews: short calls that a request waits for. */
export const reviewPolicy: WebhookPolicy = Object.freeze({
  timeoutMs: 30_000,
  attempts: 5,
  firstRetryMs: 500,
  maxAnswerBytes: 1024 * 1024,
});

/** Dependencies that tests replace; the defaults are those of the process. */
export interface WebhookDependencies {
  readonly clock: Clock;
  /** Waits; rejects as soon as the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

const systemParts: WebhookDependencies = {
  clock: systemClock,
  wait: (ms, signal) => delay(ms, undefined, { signal }),
  random: Math.random,
};

const backOffFactor = 1.5;
const jitter = 0.2;
/**
 * Posts JSON to one remote service over https, on connections that are kept open. Connection errors and the responses
 * 429 and 5xx are retried with growing waits. Redirects are not followed, since they could send credentials to another
 * server.
 */
export class WebhookClient {
  private readonly credentials: ClientCredentials;
  private tls: ClientTls;
  private connections: HttpsConnections;
  private readonly url: URL;
  private readonly stopping = new AbortController();

  constructor(
    config: ClientConfig,
    private readonly policy: WebhookPolicy = reviewPolicy,
    private readonly dependencies: WebhookDependencies = systemParts,
  ) {
    this.url = new URL(config.server);
    this.credentials = new ClientCredentials(config, dependencies.clock);
    this.tls = config.tls;
    this.connections = new HttpsConnections(config.tls);
  }

  /**
   * Sends a value and returns the JSON value of a 2xx response. Throws {@link WebhookError} when all attempts fail, and
   * the reason of `signal` when that is aborted.
   */
  async post(value: unknown, signal: AbortSignal): Promise<unknown> {
    return this.persist(Buffer.from(JSON.stringify(value)), signal, (text) => {
      try {
        // JSON.parse would change numbers that JavaScript can't represent, such as 1e400.
        return parseJson(text);
      } catch (error) {
        throw new WebhookError(`${this.where} does not answer with JSON`, undefined, false, error);
      }
    });
  }

  /** Sends JSON. Any 2xx response is accepted, whatever its body; otherwise as {@link post}. */
  async send(json: Buffer, signal: AbortSignal): Promise<void> {
    await this.persist(json, signal, () => undefined);
  }

  private async persist<T>(body: Buffer, signal: AbortSignal, read: (text: string) => T): Promise<T> {
    const either = AbortSignal.any([signal, this.stopping.signal]);
    let waitMs = this.policy.firstRetryMs;
    for (let attempt = 1; ; attempt++) {
      either.throwIfAborted();
      try {
        return read(await this.attempt(body, either));
      } catch (error) {
        either.throwIfAborted();
        if (!(error instanceof WebhookError) || !error.isTransient || attempt >= this.policy.attempts) throw error;
      }
      const waited = this.dependencies.wait(waitMs * (1 - jitter + 2 * jitter * this.dependencies.random()), either);
      // An abort ends the wait; the abort's own reason is thrown above.
      await waited.catch(() => undefined);
      waitMs *= backOffFactor;
    }
  }

  /** Aborts calls in progress and closes all connections. */
  stop(): void {
    this.stopping.abort(new WebhookError(`${this.where}: the client has been stopped`, undefined, false));
    this.connections.stop();
  }

  private get where(): string {
    return `${this.url.origin}${this.url.pathname}`;
  }

  private async attempt(body: Buffer, signal: AbortSignal): Promise<string> {
    await this.refreshTls();
    const authorization = await this.authorization();
    const limit = AbortSignal.timeout(this.policy.timeoutMs);
    const { status, text } = await this.exchange(body, authorization, AbortSignal.any([signal, limit]));
    if (status < 200 || status >= 300) {
      throw new WebhookError(`${this.where} answers ${status}`, status, status === 429 || status >= 500);
    }
    return text;
  }

  private async exchange(body: Buffer, authorization: string | undefined, signal: AbortSignal): Promise<HttpsAnswer> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'plinth',
      ...(authorization === undefined ? {} : { authorization }),
    };
    const { maxAnswerBytes } = this.policy;
    try {
      return await this.connections.post({ url: this.url, body, headers, signal, maxAnswerBytes });
    } catch (error) {
      if (!(error instanceof AnswerSizeError)) throw this.connectionError(error as Error);
      const message = `${this.where} answers with more than ${maxAnswerBytes} bytes`;
      throw new WebhookError(message, error.status, false);
    }
  }

  /** If certificates changed in their files, uses them for new connections. Calls in progress keep the old ones. */
  private async refreshTls(): Promise<void> {
    const tls = await this.credentials.tls();
    if (tls === this.tls) return;
    const before = this.connections;
    this.tls = tls;
    this.connections = new HttpsConnections(tls);
    before.retire();
  }

  private connectionError(error: Error): WebhookError {
    const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
    const text = isLate ? `no answer within ${this.policy.timeoutMs} ms` : error.message;
    return new WebhookError(`${this.where} can't be reached: ${text}`, undefined, true, error);
  }

  private async authorization(): Promise<string | undefined> {
    try {
      return await this.credentials.authorization();
    } catch (error) {
      throw new WebhookError(`the token for ${this.where} can't be read`, undefined, true, error);
    }
  }
}
