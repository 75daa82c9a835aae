import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

export interface ApiResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the server answered
  readonly body: any;
}

export interface ApiRequest {
  readonly body?: unknown;
  /** A body that is sent unchanged; takes precedence over `body`. */
  readonly raw?: string | Buffer;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
}

export interface Credentials {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: see ApiResponse
export type WatchEvent = { readonly type: string; readonly object: any };

/**
 * Longer than the time limit of any server. A request without an answer by then fails, so that the test does not hang.
 */
const answerMs = 75_000;

/**
 * Idle connections are not reused after this time: a server closes them after two minutes, which a test that waits for
 * kubectl does not notice.
 */
const idleMs = 60_000;

/** A plain client of one server over HTTP/1.1 with keep-alive. */
export class ApiClient {
  private readonly agent: Agent;
  private readonly freeSince = new WeakMap<object, number>();

  constructor(
    readonly url: string,
    private readonly credentials: Credentials,
  ) {
    const { ca, cert, key } = credentials;
    this.agent = new Agent({ keepAlive: true, maxSockets: 64, ca, cert, key });
    this.agent.on('free', (socket: object) => this.freeSince.set(socket, performance.now()));
  }

  close(): void {
    this.agent.destroy();
  }

  get(path: string, options: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('GET', path, options);
  }

  post(path: string, body: unknown, options: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('POST', path, { body, ...options });
  }

  put(path: string, body: unknown, options: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('PUT', path, { body, ...options });
  }

  /** @param type `merge`, `json` or `strategic-merge` */
  patch(path: string, type: string, body: unknown, options: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('PATCH', path, { body, contentType: `application/${type}-patch+json`, ...options });
  }

  delete(path: string, body?: unknown, options: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('DELETE', path, { body, ...options });
  }

  async send(method: string, path: string, options: ApiRequest = {}): Promise<ApiResponse> {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await this.open(method, path, options, payload);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    // The list of OpenAPI documents is JSON with a text Content-Type.
    const isJson = (response.headers['content-type'] ?? '').startsWith('application/json') || path === '/openapi/v3';
    const body: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
    return { status: response.statusCode ?? 0, headers: response.headers, text, body };
  }

  /** Opens a watch; events come in order until `close` or the end of the stream. */
  async watch(path: string, options: ApiRequest = {}): Promise<WatchStream> {
    const response = await this.open('GET', path, options, undefined);
    return new WatchStream(response);
  }

  private open(
    method: string,
    path: string,
    options: ApiRequest,
    payload: string | Buffer | undefined,
  ): Promise<IncomingMessage> {
    const token = options.token ?? this.credentials.token;
    const headers: Record<string, string> = { 'user-agent': 'e2e/1.0' };
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (payload !== undefined) {
      headers['content-type'] = options.contentType ?? 'application/json';
      headers['content-length'] = String(Buffer.byteLength(payload));
    }
    Object.assign(headers, options.headers);
    this.leaveIdleConnections();
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${this.url}${path}`, { method, headers, agent: this.agent });
      const late = setTimeout(
        () => request.destroy(new Error(`${method} ${path}: no answer within ${answerMs} ms`)),
        answerMs,
      );
      late.unref();
      request.on('response', (response) => {
        clearTimeout(late);
        resolve(response);
      });
      request.on('error', (error) => {
        clearTimeout(late);
        reject(error);
      });
      request.end(payload);
    });
  }

  private leaveIdleConnections(): void {
    const latest = performance.now() - idleMs;
    for (const socket of Object.values(this.agent.freeSockets).flat())
      if (socket !== undefined && (this.freeSince.get(socket) ?? latest) < latest) socket.destroy();
  }
}

/** The events of one watch. */
export class WatchStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  private readonly iterator: AsyncGenerator<WatchEvent>;

  constructor(private readonly response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.iterator = readEvents(response);
  }

  /** The next event, or undefined when the stream ended. Rejects when no event arrives within `timeoutMs`. */
  async next(timeoutMs = 60_000): Promise<WatchEvent | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no watch event within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      const result = await Promise.race([this.iterator.next(), late]);
      return result.done === true ? undefined : result.value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next `count` events. */
  async take(count: number, timeoutMs = 60_000): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next(timeoutMs);
      if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  close(): void {
    this.response.destroy();
  }
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<WatchEvent> {
  let rest = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      rest += chunk as string;
      let end = rest.indexOf('\n');
      while (end >= 0) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        if (line !== '') yield JSON.parse(line) as WatchEvent;
        end = rest.indexOf('\n');
      }
    }
  } catch (error) {
    // A cut connection ends the stream for the reader too.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET' && (error as Error).name !== 'AbortError') throw error;
  }
}
