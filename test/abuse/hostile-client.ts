import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import type { HostileRequest } from './hostile-request.js';

/** The answer; `undefined` when the client did not wait for it. */
export interface HostileAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

/** Longer than the time limit of requests, on a busy machine. */
const patienceMs = 120_000;
const mostBytes = 4_000_000;
/** Watches may last long, so their clients leave after this time. */
const watchMs = 1_500;
/** How long a client that stopped reading stays before it leaves. */
const stallMs = 50;

/** Sends hostile requests to one server. */
export class HostileClient {
  private readonly agent: Agent;
  private session: ClientHttp2Session | undefined;

  constructor(
    private readonly url: string,
    private readonly ca: string,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: 64, ca });
  }

  /** Rejects when the connection broke although the client did nothing to it. */
  send(request: HostileRequest): Promise<HostileAnswer | undefined> {
    return request.http === 1 ? this.sendOne(request) : this.sendTwo(request);
  }

  close(): void {
    this.agent.destroy();
    this.session?.destroy();
  }

  private headersOf({ headers, token }: HostileRequest): Record<string, string> {
    return token === undefined ? { ...headers } : { ...headers, authorization: `Bearer ${token}` };
  }

  private sendOne(request: HostileRequest): Promise<HostileAnswer | undefined> {
    const { method, path, body, fate } = request;
    return new Promise((resolve, reject) => {
      const headers = this.headersOf(request);
      if (body !== undefined) headers['content-length'] = String(body.length);
      const sent = httpsRequest(`${this.url}/`, { path, method, headers, agent: this.agent });
      const finish = (answer?: HostileAnswer) => {
        clearTimeout(late);
        resolve(answer);
      };
      const leave = () => {
        // Unread data make the system send a reset.
        sent.destroy();
        finish();
      };
      const late = setTimeout(() => {
        sent.destroy();
        reject(new Error('no answer'));
      }, patienceMs);
      sent.on('error', (error) => {
        clearTimeout(late);
        if (fate === 'none') reject(error);
        else resolve(undefined);
      });
      sent.on('response', (response) => {
        response.on('error', () => finish());
        if (path.includes('watch')) setTimeout(leave, watchMs);
        if (fate === 'leave at the head') return leave();
        if (fate === 'stop reading') {
          response.pause();
          setTimeout(leave, stallMs);
          return;
        }
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          length += chunk.length;
          if (fate === 'leave within the answer' || fate === 'reset the connection' || length > mostBytes) leave();
        });
        response.on('end', () =>
          finish({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            retryAfter: response.headers['retry-after'],
            body: Buffer.concat(chunks),
          }),
        );
        response.on('aborted', () => finish());
      });
      if (fate === 'leave before the body') {
        sent.flushHeaders();
        setTimeout(leave, 5);
      } else if (fate === 'leave within the body' && body !== undefined && body.length > 1) {
        sent.write(body.subarray(0, body.length >> 1), () => setTimeout(leave, 5));
      } else sent.end(body);
    });
  }

  private connection(): ClientHttp2Session {
    if (this.session !== undefined && !this.session.closed && !this.session.destroyed) return this.session;
    const session = connect(this.url, { ca: this.ca, maxSendHeaderBlockLength: 1 << 20 });
    session.on('error', () => undefined);
    this.session = session;
    return session;
  }

  private sendTwo(request: HostileRequest): Promise<HostileAnswer | undefined> {
    const { method, path, body, fate } = request;
    const isBroken = fate === 'reset the connection';
    // Other requests on the connection must not suffer for it.
    const session = isBroken ? connect(this.url, { ca: this.ca }) : this.connection();
    if (isBroken) session.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream;
      try {
        const headers = { ':method': method, ':path': path, ...this.headersOf(request) };
        stream = session.request(headers, { endStream: body === undefined });
      } catch (error) {
        reject(error);
        return;
      }
      const finish = (answer?: HostileAnswer) => {
        clearTimeout(late);
        if (isBroken) session.destroy();
        resolve(answer);
      };
      const leave = () => {
        if (isBroken) session.destroy();
        else stream.close(8);
        finish();
      };
      const late = setTimeout(() => {
        stream.close(8);
        reject(new Error('no answer'));
      }, patienceMs);
      let head: Record<string, unknown> | undefined;
      const chunks: Buffer[] = [];
      let length = 0;
      stream.on('error', (error) => {
        clearTimeout(late);
        if (fate === 'none' && head === undefined) reject(error);
        else finish();
      });
      stream.on('response', (received) => {
        head = received;
        if (path.includes('watch')) setTimeout(leave, watchMs);
        if (fate === 'leave at the head') leave();
        if (fate === 'stop reading') {
          stream.pause();
          setTimeout(leave, stallMs);
        }
      });
      if (fate !== 'stop reading') {
        stream.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          length += chunk.length;
          if (fate === 'leave within the answer' || isBroken || length > mostBytes) leave();
        });
      }
      stream.on('close', () => {
        if (head === undefined) {
          clearTimeout(late);
          if (fate === 'none') reject(new Error('closed without an answer'));
          else finish();
          return;
        }
        finish({
          status: Number(head[':status']),
          contentType: String(head['content-type'] ?? ''),
          retryAfter: head['retry-after'] as string | undefined,
          body: Buffer.concat(chunks),
        });
      });
      if (fate === 'leave before the body') setTimeout(leave, 5);
      else if (body !== undefined && fate === 'leave within the body' && body.length > 1) {
        stream.write(body.subarray(0, body.length >> 1), () => setTimeout(leave, 5));
      } else if (body !== undefined) stream.end(body);
    });
  }
}
