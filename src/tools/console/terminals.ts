import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { endConnection } from '../../base/machinery/end-connection.js';
import { whenClosed } from '../../base/machinery/when-closed.js';
import type { Logger } from '../../base/observability/logger.js';
import { terminalPath } from './forward-rules.js';
import { securityHeaders } from './guard.js';
import type { ConsoleSession } from './sessions.js';
import { UpstreamError } from './upstream-error.js';

/** What a browser offers beside the protocol of the stream: the page's secret, as WebSockets have no other header. */
const keyProtocol = 'plinth-key.';
/** The protocol of terminals: each message begins with the number of its channel. */
const streamProtocol = 'v5.channel.k8s.io';

/** What terminals need of the console. */
export interface TerminalGuard {
  /** Why a request is refused by its Host and Origin, or undefined. */
  readonly problem: (request: IncomingMessage) => string | undefined;
  /** The session of the cookie and of the key that the page has sent. */
  readonly sessionOf: (request: IncomingMessage, key: string | undefined) => Promise<ConsoleSession | undefined>;
  /** Ends the session if the API server no longer accepts its credentials. */
  readonly isOver: (session: ConsoleSession) => Promise<boolean>;
  /** Counts one more request under way; undefined when there are too many. */
  readonly begin: (session: ConsoleSession) => (() => void) | undefined;
}

/** Connects terminals of the page with programs in pods, as the user of the session. */
export class Terminals {
  constructor(
    private readonly guard: TerminalGuard,
    private readonly logger: Logger,
  ) {}

  /** Takes a request for another protocol. Answers and closes the connection unless it becomes a terminal. */
  async take(request: IncomingMessage, client: Duplex, early: Buffer): Promise<void> {
    client.on('error', () => client.destroy());
    try {
      await this.connect(request, client, early);
    } catch (error) {
      if (error instanceof UpstreamError) refuse(client, 502, error.message);
      else {
        if (!client.destroyed) this.logger.error('a terminal of the console failed', { error });
        client.destroy();
      }
    }
  }

  private async connect(request: IncomingMessage, client: Duplex, early: Buffer): Promise<void> {
    const { headers, method = '', url = '' } = request;
    // Unlike other requests, browsers let pages of other sites open WebSockets: an Origin is a must.
    const problem = headers.origin === undefined ? 'a terminal needs an Origin' : this.guard.problem(request);
    if (problem !== undefined) return refuse(client, 403, problem);
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const key = offered.find((name) => name.startsWith(keyProtocol))?.slice(keyProtocol.length);
    const session = await this.guard.sessionOf(request, key);
    if (session === undefined) return refuse(client, 401, 'log in first');
    const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket' && offered.includes(streamProtocol);
    if (!isWebSocket) return refuse(client, 400, `the protocol is not ${streamProtocol}`);
    const forwarded = terminalPath(method, url);
    if ('problem' in forwarded) return refuse(client, 404, forwarded.problem);
    const end = this.guard.begin(session);
    if (end === undefined) return refuse(client, 429, 'you have too many requests and watches open in this console');
    const left = new AbortController();
    whenClosed(client, () => {
      left.abort();
      end();
    });
    const signal = AbortSignal.any([session.ended.signal, left.signal]);
    const answer = await session.upstream.connect({
      agent: session.agent,
      method,
      path: forwarded.path,
      headers: streamHeaders(request, session.authorization),
      signal,
    });
    if (answer.kind === 'response') {
      answer.response.destroy();
      if (answer.response.statusCode === 401) await this.guard.isOver(session);
      return refuse(client, answer.response.statusCode ?? 502, 'the API server opens no terminal there');
    }
    this.logger.info('terminal opened in the console', { user: session.user.name, path: forwarded.path.split('?')[0] });
    join(client, early, answer, signal);
  }
}

function streamHeaders({ headers }: IncomingMessage, authorization: string | undefined): Record<string, string> {
  return {
    'user-agent': 'plinth-console',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': headers['sec-websocket-key'] ?? '',
    'sec-websocket-protocol': streamProtocol,
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** Bytes pass unchanged from here on: both sides speak in the frames of the same handshake. */
function join(
  client: Duplex,
  early: Buffer,
  { response, socket, head }: { response: IncomingMessage; socket: Duplex; head: Buffer },
  signal: AbortSignal,
): void {
  const close = () => {
    client.destroy();
    socket.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  socket.once('close', close);
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'connection: Upgrade',
    'upgrade: websocket',
    `sec-websocket-accept: ${response.headers['sec-websocket-accept'] ?? ''}`,
    `sec-websocket-protocol: ${streamProtocol}`,
  ];
  client.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) client.write(head);
  if (early.length > 0) socket.write(early);
  client.pipe(socket);
  socket.pipe(client);
  if (signal.aborted || client.destroyed || socket.destroyed) close();
}

function refuse(client: Duplex, code: number, message: string): void {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code });
  const headers = {
    ...securityHeaders,
    'cache-control': 'no-store',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endConnection(client, `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
