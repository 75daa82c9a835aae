import { StatusError, timeoutError } from '../machinery/status-error.js';
import { AnswerSizeError } from './answer-size-error.js';
import { CallSeats } from './call-seats.js';
import type { ClientTls } from './client-config.js';
import { ClientCredentials } from './client-credentials.js';
import type { ClientUsers } from './client-users.js';
import { connectionReason } from './connection-reason.js';
import type { DeniedAddresses } from './denied-addresses.js';
import { HttpsConnections, type Target } from './https-connections.js';
import type { HttpsAnswer } from './https-request.js';
import type { ServiceResolver } from './service-resolver.js';
import { WebhookFault } from './webhook-fault.js';

/** Where a hook is, as definitions of hooks of all kinds specify it: a URL or a service. */
export interface WebhookAddress {
  readonly url?: string | undefined;
  readonly service?:
    | {
        readonly namespace: string;
        readonly name: string;
        readonly path?: string | undefined;
        readonly port?: number | undefined;
      }
    | undefined;
  /** PEM in base64; if empty, the CAs of the system are trusted. */
  readonly caBundle?: string | undefined;
}

/** Settings shared by all hooks of a process. */
export interface WebhookTransport {
  readonly services: ServiceResolver;
  readonly denied: DeniedAddresses;
  /** Credentials by host; undefined if there are none. */
  readonly users: ClientUsers | undefined;
}

/**
 * As many concurrent calls to one hook as it has connections; few enough waiting requests to leave memory for those
 * of other webhooks.
 */
const seatLimits = { calls: 64, waiting: 64 };

const mostRedirects = 10;

/** One review. */
export interface ReviewCall {
  /** Builds the request body, once a connection is available. */
  readonly write: () => Buffer;
  readonly timeoutMs: number;
  /** The request's signal; aborts the call. */
  readonly signal: AbortSignal;
  /** A longer response is a fault. */
  readonly maxAnswerBytes: number;
}

export interface ReviewClientSettings {
  readonly userAgent: string;
  /** Longer responses are faults. */
  readonly maxAnswerBytes: number;
}

/** Large enough for a patch of the largest object in base64, and the rest of the response. */
const admissionSettings: ReviewClientSettings = {
  userAgent: 'plinth-admission',
  maxAnswerBytes: 4 * 1024 * 1024 + 256 * 1024,
};

const anonymous: Pick<ConstructorParameters<typeof ClientCredentials>[0], 'auth' | 'files'> = {
  auth: { kind: 'none' },
  files: {},
};

/** Posts reviews to one hook, on connections of its own that are kept open. */
export class ReviewClient {
  private readonly seats = new CallSeats(seatLimits);
  private readonly url: URL;
  /** The address as messages show it. */
  private readonly shownUrl: string;
  private readonly credentials: ClientCredentials;
  private readonly target: (() => Target) | undefined;
  private tls: ClientTls;
  private connections: HttpsConnections;

  /** Throws for an address or certificates that can't be used. */
  constructor(
    config: WebhookAddress,
    private readonly transport: WebhookTransport,
    private readonly settings: ReviewClientSettings = admissionSettings,
  ) {
    const { service, caBundle = '' } = config;
    if (service === undefined) {
      this.shownUrl = config.url ?? '';
      this.url = new URL(this.shownUrl);
      this.target = undefined;
    } else {
      const { namespace, name, path = '/' } = service;
      const port = service.port ?? 443;
      this.shownUrl = `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`;
      this.url = new URL(this.shownUrl);
      this.target = () => transport.services.resolve(namespace, name, port);
    }
    const host = this.url.hostname.replace(/^\[|\]$/g, '');
    const user = transport.users?.for(host, Number(this.url.port || 443));
    const tls: ClientTls = {
      ca: caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8'),
      cert: user?.tls.cert,
      key: user?.tls.key,
      serverName: undefined,
      insecureSkipVerify: false,
    };
    this.credentials = new ClientCredentials({ ...(user ?? anonymous), tls });
    this.tls = tls;
    this.connections = this.connect(tls);
  }

  /**
   * Sends a review and returns the body of the response.
   *
   * @param write builds the request body, once a connection is available
   * @param signal the request's signal; aborts the call
   * @throws WebhookFault when there is no usable response; a StatusError of the request (429 when too many requests wait
   * for this hook, 504 when the request has no time left)
   */
  ask(write: () => Buffer, timeoutMs: number, signal: AbortSignal): Promise<string> {
    const { maxAnswerBytes } = this.settings;
    return this.askAndRead({ write, timeoutMs, signal, maxAnswerBytes }, (text) => Promise.resolve(text));
  }

  /**
   * Like {@link ask}, but the call keeps its seat until `read` has read the body of the response: what the answers of a
   * hook take in memory is limited, too. Also throws what `read` throws.
   */
  async askAndRead<T>(call: ReviewCall, read: (text: string) => Promise<T>): Promise<T> {
    const { write, timeoutMs, signal, maxAnswerBytes } = call;
    const limit = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, limit]);
    const shown = `${this.shownUrl}?timeout=${Math.ceil(timeoutMs / 1000)}s`;
    let outcome: { readonly value: T } | { readonly error: unknown };
    try {
      const taken = this.seats.take(either, async () => {
        const text = textOf(await this.post(write(), shown, either, maxAnswerBytes));
        return read(text).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
      });
      if (taken === undefined) throw crowdedError();
      outcome = await taken;
    } catch (error) {
      if (signal.aborted) throw timeoutError('request did not complete within requested timeout', 0, error);
      if (error instanceof StatusError || error instanceof WebhookFault) throw error;
      if (error instanceof AnswerSizeError) throw new WebhookFault(error.message, error.status, error);
      const reason = limit.aborted ? 'context deadline exceeded' : connectionReason(error as Error);
      throw new WebhookFault(`Post ${JSON.stringify(shown)}: ${reason}`, 0, error);
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Closes the connections as soon as no call uses them. */
  retire(): void {
    this.connections.retire();
  }

  private async post(body: Buffer, shown: string, signal: AbortSignal, maxAnswerBytes: number): Promise<HttpsAnswer> {
    const tls = await this.credentials.tls();
    if (tls !== this.tls) {
      this.connections.retire();
      this.tls = tls;
      this.connections = this.connect(tls);
    }
    const authorization = await this.credentials.authorization();
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': this.settings.userAgent,
      ...(authorization === undefined ? {} : { authorization }),
    };
    let call: RedirectedCall = { url: new URL(shown), sendsReview: true };
    for (let redirects = 0; ; redirects++) {
      const { url, sendsReview } = call;
      const sent = { url, headers, signal, maxAnswerBytes };
      const answer = await (sendsReview ? this.connections.post({ ...sent, body }) : this.connections.get(sent));
      const next = redirects < mostRedirects ? redirectedOf(answer, call) : undefined;
      if (next === undefined) return answer;
      call = next;
    }
  }

  private connect(tls: ClientTls): HttpsConnections {
    const { denied } = this.transport;
    return new HttpsConnections(tls, { maxSockets: seatLimits.calls, denied, target: this.target });
  }
}

/** The body of a response. Throws a WebhookFault when it has none, or another status than 2xx. */
function textOf({ status, text, headers }: HttpsAnswer): string {
  if (status < 200 || status >= 300) throw new WebhookFault(statusMessage(status), status);
  if (text !== '') return text;
  const contentType = headers['content-type'] ?? '';
  throw new WebhookFault(`0-length response with status code: ${status} and content type: ${contentType}`);
}

interface RedirectedCall {
  readonly url: URL;
  /** Whether the review is sent again; otherwise the target is read. */
  readonly sendsReview: boolean;
}

const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * What a redirect leads to: another path of the same server. Servers use redirects to clean up paths such as `//hook`.
 * A review never goes to a server that nobody configured.
 */
function redirectedOf(answer: HttpsAnswer, { url: from, sendsReview }: RedirectedCall): RedirectedCall | undefined {
  const { status } = answer;
  const { location } = answer.headers;
  if (!redirectCodes.has(status) || location === undefined || !URL.canParse(location, from)) return undefined;
  const url = new URL(location, from);
  return url.origin === from.origin ? { url, sendsReview: sendsReview && status >= 307 } : undefined;
}

function crowdedError(): StatusError {
  const message = 'too many requests wait for the webhook, please try again later';
  return new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 } });
}

const statusMessages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'the server does not allow access to the requested resource',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

function statusMessage(status: number): string {
  const known = statusMessages[status];
  if (known !== undefined) return known;
  return status >= 500
    ? 'an error on the server ("unknown") has prevented the request from succeeding'
    : `the server responded with the status code ${status} but did not return more information`;
}
