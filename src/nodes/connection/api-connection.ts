import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { BytePieces } from '../../base/machinery/byte-pieces.js';
import type { RateLimiter } from '../../base/machinery/rate-limiter.js';
import type { ApiAccess, Credentials } from '../../base/outgoing/api-access.js';
import type { ClientTls } from '../../base/outgoing/client-config.js';
import { ApiError } from './api-error.js';
import { type Bodies, jsonBodies, type WatchEvent } from './bodies.js';
import { Http2Connections } from './http2-connections.js';
import { TooManyWait } from './too-many-wait.js';

/** A limited number of places, given out in the order of the requests. */
class Places {
  private readonly queue: (() => void)[] = [];

  constructor(private free: number) {}

  /** How many requests wait. */
  get waiting(): number {
    return this.queue.length;
  }

  async take(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
  }

  give(): void {
    const next = this.queue.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}

export interface ApiRequest {
  readonly body?: object;
  /** The media type of a body that is JSON and no object, such as a patch. Default: the body is an object. */
  readonly contentType?: string;
  /**
   * `minor`: nothing depends on it; few of these are under way at a time, and none begins while too many wait.
   * `urgent`: it waits for no other request, however many there are, such as the renewal of a lease. Default: neither.
   */
  readonly rank?: 'minor' | 'urgent';
  readonly signal: AbortSignal;
}

/** The most requests of rank `urgent` under way at a time. */
const mostUrgent = 32;
/** The most requests of rank `minor` under way at a time, and the most of them that may wait. */
const mostMinor = 16;
const mostMinorWaiting = 1000;

export interface ApiConnectionSettings {
  /** Requests under way at a time that are neither urgent nor minor. */
  readonly atOnce?: number;
  /** Name of this program in the field `User-Agent`. */
  readonly userAgent?: string;
  /** Limits how often requests of every rank but `urgent` begin; they begin in their order. */
  readonly rate?: RateLimiter;
  /** The form of objects in requests and responses. Default: JSON. */
  readonly bodies?: Bodies;
}

/**
 * Requests to one API server. All share a few connections; the number of short ones under way is limited. No request
 * holds up those of a higher rank.
 */
export class ApiConnection {
  private readonly connections: Http2Connections;
  /** The certificates that the access returned last. */
  private tls: ClientTls;
  private readonly prefix: string;
  private readonly bodies: Bodies;
  private readonly major: Places;
  private readonly minor = new Places(mostMinor);
  private readonly urgent = new Places(mostUrgent);

  constructor(
    private readonly access: ApiAccess,
    private readonly settings: ApiConnectionSettings = {},
  ) {
    this.tls = access.tls;
    this.connections = new Http2Connections(access.server, this.tls);
    this.prefix = new URL(access.server).pathname.replace(/\/$/, '');
    this.bodies = settings.bodies ?? jsonBodies;
    this.major = new Places(settings.atOnce ?? 100);
  }

  /** How many connections there are now. */
  get size(): number {
    return this.connections.size;
  }

  /** The API as seen by another user, whom the connection's own user may impersonate. */
  as(user: string, groups: readonly string[]): ApiUser {
    return new ApiUser(this, { 'impersonate-user': user, 'impersonate-group': [...groups] });
  }

  /** The API as seen by the connection's own user. */
  own(): ApiUser {
    return new ApiUser(this, {});
  }

  /** Uses other client certificates from now on. Current requests continue. */
  renewTls(tls: ClientTls): void {
    this.connections.renewTls(tls);
  }

  stop(): void {
    this.connections.stop();
  }

  /** One short request. Throws {@link ApiError}, the error of the connection, or {@link TooManyWait}. */
  async send<T extends object>(
    method: string,
    path: string,
    identity: OutgoingHttpHeaders,
    { body, contentType, rank, signal }: ApiRequest,
  ): Promise<T> {
    const places = rank === 'minor' ? this.minor : rank === 'urgent' ? this.urgent : this.major;
    if (rank === 'minor' && places.waiting >= mostMinorWaiting) throw new TooManyWait();
    if (rank !== 'urgent' && this.settings.rate !== undefined) await this.settings.rate.take(signal);
    await places.take();
    try {
      const content =
        body === undefined
          ? undefined
          : contentType === undefined
            ? this.bodies.encode(body)
            : { bytes: JSON.stringify(body), contentType };
      const headers = { ...identity, ...(content === undefined ? {} : { 'content-type': content.contentType }) };
      const bytes = content?.bytes;
      return this.readAnswer(await this.begin({ method, path, headers, bytes, limitMs: requestMs, signal })) as T;
    } finally {
      places.give();
    }
  }

  /** The events of a watch as they arrive. Ends with the response, or throws as {@link send} does. */
  async *events<T>(path: string, identity: OutgoingHttpHeaders, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const begun = await this.begin({ method: 'GET', path, headers: identity, signal });
    try {
      if (begun.status !== 200) await this.readAnswer(begun);
      yield* this.bodies.events(begun.stream as AsyncIterable<Buffer>, begun.contentType) as AsyncGenerator<
        WatchEvent<T>
      >;
    } finally {
      begun.stream.destroy();
    }
  }

  private async readAnswer({ stream, status, contentType }: Begun): Promise<object> {
    const body = this.objectOf(await bytesOf(stream), contentType);
    if (status >= 200 && status < 300 && typeof body === 'object' && body !== null) return body;
    throw apiError(status, body);
  }

  private objectOf(bytes: Buffer, contentType: string): unknown {
    try {
      return this.bodies.decode(bytes, contentType);
    } catch {
      return undefined;
    }
  }

  /** The beginning of the response. After a 401 there may be newer credentials, which are tried once. */
  private async begin(sending: Sending): Promise<Begun> {
    const credentials = await this.access.present();
    const begun = await this.beginAs(credentials, sending);
    if (begun.status !== 401) return begun;
    // Nobody could read it once the stream has ended.
    const refusal = await bytesOf(begun.stream);
    if (!(await this.access.renew(credentials)))
      throw apiError(begun.status, this.objectOf(refusal, begun.contentType));
    return this.beginAs(await this.access.present(), sending);
  }

  private async beginAs(
    { tls, authorization }: Credentials,
    { method, path, headers, bytes, limitMs, signal }: Sending,
  ): Promise<Begun> {
    if (tls !== this.tls) {
      this.tls = tls;
      this.connections.renewTls(tls);
    }
    const all = {
      ':method': method,
      ':path': `${this.prefix}${path}`,
      accept: this.bodies.accept,
      'user-agent': this.settings.userAgent ?? 'plinth-nodes',
      ...(authorization === undefined ? {} : { authorization }),
      ...headers,
    };
    const stream = this.connections.request(all, bytes !== undefined, signal);
    if (limitMs !== undefined) {
      stream.setTimeout(limitMs, () => stream.destroy(new Error('the server did not answer in time')));
    }
    if (bytes !== undefined) stream.end(bytes);
    const { ':status': status, 'content-type': contentType = '' } = await answerOf(stream);
    return { stream, status: Number(status), contentType };
  }
}

/** A request as it goes on the wire. */
interface Sending {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly bytes?: string | Uint8Array | undefined;
  /** How long the server may be silent. */
  readonly limitMs?: number;
  readonly signal: AbortSignal;
}

/** A stream whose response has begun. */
interface Begun {
  readonly stream: ClientHttp2Stream;
  readonly status: number;
  /** Empty: the server does not report it. */
  readonly contentType: string;
}

/** How long a server may be silent before it is considered dead, in milliseconds. */
const requestMs = 70_000;

/** The API as one user. */
export class ApiUser {
  constructor(
    private readonly connection: ApiConnection,
    private readonly identity: OutgoingHttpHeaders,
  ) {}

  send<T extends object = ApiObject>(method: string, path: string, request: ApiRequest): Promise<T> {
    return this.connection.send<T>(method, path, this.identity, request);
  }

  events<T>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    return this.connection.events<T>(path, this.identity, signal);
  }
}

/** The headers of the response. Rejects when the stream ends without headers. */
function answerOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the connection ended before the answer')));
  });
}

async function bytesOf(stream: ClientHttp2Stream): Promise<Buffer> {
  const pieces = new BytePieces();
  for await (const chunk of stream) pieces.add(chunk as Buffer);
  return pieces.join();
}

function apiError(status: number, body: unknown): ApiError {
  const { reason = '', message = `the server answered ${status}` } = (body ?? {}) as {
    readonly reason?: string;
    readonly message?: string;
  };
  return new ApiError(status, reason, message);
}
