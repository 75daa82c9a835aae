import type { IncomingMessage } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { type Answer, Requester, type Shot } from './requester.js';

/** The attacker and its target, passed to the attacker's process. */
export interface Target {
  readonly urls: readonly string[];
  /** Token of the account with the role `admin` in the namespace. */
  readonly token: string;
  readonly adminToken: string;
  readonly namespace: string;
  readonly hasScheduler: boolean;
}

/** The most connections of one process, and the most bytes that it sends: these limit every attack. */
const mostConnections = 4_000;
const mostBytes = 3 * 2 ** 30;
const streamsPerSession = 200;

/** The tools of an attacker: sends requests, opens and holds streams, and counts the responses. */
export class Attacker {
  readonly counts: Record<string, number> = {};
  readonly samples: Record<string, string> = {};
  isOver = false;
  sentBytes = 0;
  private readonly requesters: readonly Requester[];
  private readonly admins: readonly Requester[];
  private readonly sessions: { session: ClientHttp2Session; streams: number }[] = [];
  private readonly sockets = new Set<TLSSocket>();
  private readonly endings: (() => void)[] = [];

  constructor(readonly target: Target) {
    this.requesters = target.urls.map((url) => new Requester(url, target.token, {}, mostConnections));
    this.admins = target.urls.map((url) => new Requester(url, target.adminToken, {}, 64));
  }

  /** A path in the namespace of the attacker: `configmaps`, `apps/v1/deployments`. */
  path(resource: string): string {
    const parts = resource.split('/');
    const [group, version, ...rest] = parts;
    const isCore = parts.length < 3 || !/^v\d/.test(version ?? '');
    const { namespace } = this.target;
    return isCore
      ? `/api/v1/namespaces/${namespace}/${resource}`
      : `/apis/${group}/${version}/namespaces/${namespace}/${rest.join('/')}`;
  }

  /** Sends a request as the tenant, to the servers in turn, and counts the response. */
  async send(shot: Shot, n = 0): Promise<Answer | undefined> {
    return this.counted(this.requesters[n % this.requesters.length] as Requester, shot);
  }

  /** Sends a request as an administrator, for preparations that need one. */
  async asAdmin(shot: Shot): Promise<Answer> {
    return (this.admins[0] as Requester).must(shot, 200, 201, 202, 404, 409);
  }

  /** Creates an object of a kind in the namespace. */
  create(resource: string, body: unknown, n = 0): Promise<Answer | undefined> {
    return this.send({ method: 'POST', path: this.path(resource), body }, n);
  }

  /**
   * Opens a long response, such as a watch, and keeps it open until the attack or the response ends.
   *
   * @param reads whether the client reads the data
   */
  async hold(shot: Shot, reads: boolean, n = 0): Promise<void> {
    if (this.bounded(shot) === undefined) return this.rest();
    let response: IncomingMessage;
    try {
      response = await (this.requesters[n % this.requesters.length] as Requester).open(shot);
    } catch (error) {
      this.count(nameOf(error));
      return;
    }
    const { statusCode = 0 } = response;
    this.count(String(statusCode));
    response.on('error', () => undefined);
    if (statusCode >= 300) {
      response.resume();
      return this.rest();
    }
    this.count('held');
    if (reads) response.resume();
    response.once('close', () => this.count('held ended'));
  }

  /** Like {@link hold}, as a stream of an HTTP/2 connection with many such streams. */
  async holdStream(shot: Shot, reads: boolean): Promise<void> {
    if (this.bounded(shot) === undefined) return this.rest();
    const own = this.sessionWithRoom();
    own.streams++;
    const stream = own.session.request({
      ':method': shot.method,
      ':path': shot.path,
      authorization: `Bearer ${this.target.token}`,
      ...shot.headers,
    });
    await new Promise<void>((resolve) => {
      stream.on('error', () => undefined);
      stream.once('response', (fields) => {
        this.count(String(fields[':status']));
        if (Number(fields[':status']) < 300) this.count('held');
        if (reads || Number(fields[':status']) >= 300) stream.resume();
        resolve();
      });
      stream.once('close', () => {
        own.streams--;
        resolve();
      });
      this.ended(resolve);
    });
  }

  /** Opens this many streams on one connection and resets each as soon as it is open. */
  async resets({ method, path }: Shot, streams: number): Promise<void> {
    const { session } = this.sessionWithRoom();
    for (let i = 0; i < streams && !session.destroyed; i++) {
      const stream = session.request({
        ':method': method,
        ':path': path,
        authorization: `Bearer ${this.target.token}`,
      });
      stream.on('error', () => undefined);
      stream.close(8);
      this.count('reset');
    }
    await this.rest(20);
    if (session.destroyed) this.count('connection ended');
  }

  /** A bare connection on which the attack writes its own bytes. */
  async socket(n = 0): Promise<TLSSocket | undefined> {
    if (this.sockets.size >= mostConnections) return undefined;
    const url = new URL(this.target.urls[n % this.target.urls.length] as string);
    const socket = tlsConnect({ host: url.hostname, port: Number(url.port), rejectUnauthorized: false });
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('secureConnect', () => resolve(true));
      socket.once('close', () => resolve(false));
      this.ended(() => resolve(false));
    });
    this.count(isOpen ? 'connected' : 'not connected');
    return isOpen ? socket : undefined;
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Calls `callback` at the end of the attack. */
  ended(callback: () => void): void {
    if (this.isOver) callback();
    else this.endings.push(callback);
  }

  /** A pause, which ends early with the attack. */
  async rest(ms = 50): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      if (ms > 1000) {
        this.ended(() => {
          clearTimeout(timer);
          resolve();
        });
      }
    });
  }

  end(): void {
    this.isOver = true;
    for (const callback of this.endings) callback();
    for (const { session } of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
  }

  private async counted(requester: Requester, shot: Shot): Promise<Answer | undefined> {
    const bounded = this.bounded(shot);
    if (bounded === undefined) {
      await this.rest();
      return undefined;
    }
    try {
      const answer = await requester.send(bounded);
      const code = String(answer.status);
      this.count(code);
      if (answer.status >= 400)
        this.samples[code] ??= `${shot.method} ${shot.path.slice(0, 100)}: ${answer.text.slice(0, 250)}`;
      // A client without back-off, but with a short pause, so that the check does not only measure how fast requests
      // are refused.
      if (answer.status === 429) await this.rest();
      return answer;
    } catch (error) {
      this.count(nameOf(error));
      await this.rest();
      return undefined;
    }
  }

  /** The request with its body as text, or undefined when the attack has used up its bytes. */
  private bounded(shot: Shot): Shot | undefined {
    const { path, body } = shot;
    const text = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body);
    this.sentBytes += path.length + (text?.length ?? 0);
    return this.sentBytes > mostBytes ? undefined : { ...shot, body: text };
  }

  private sessionWithRoom(): { session: ClientHttp2Session; streams: number } {
    const open = this.sessions.find(({ session, streams }) => !session.destroyed && streams < streamsPerSession);
    if (open !== undefined) return open;
    const url = this.target.urls[this.sessions.length % this.target.urls.length] as string;
    const session = connect(url, { rejectUnauthorized: false, maxSendHeaderBlockLength: 1 << 20 });
    session.on('error', () => undefined);
    const made = { session, streams: 0 };
    this.sessions.push(made);
    return made;
  }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  return (error as NodeJS.ErrnoException).code ?? error.message.slice(0, 40);
}
