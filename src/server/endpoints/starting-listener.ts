import { once } from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from 'node:http2';
import { Server as NetServer, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { FastifyReply } from 'fastify';
import { serviceUnavailableError } from '../../base/machinery/status-error.js';
import {
  findCheck,
  type HealthCheck,
  isHealthPath,
  isPassed,
  runCheck,
  runChecks,
  shownReport,
} from './health/health-checks.js';
import { readUnwanted } from './request-info/unwanted-body.js';

/** Enough for checks whether the server is ready. */
const maxConnections = 500;
/** Connections that do not finish their handshake, or send nothing, are closed after this time. */
const patienceMs = 10_000;
/** When the server itself takes over the port, requests on their way and responses in progress get this much time. */
const lingerMs = 200;

/** Dependencies of the {@link StartingListener}. */
export interface StartingListenerOptions {
  readonly address: string;
  readonly port: number;
  readonly tls: SecureContextOptions;
  readonly checks: readonly HealthCheck[];
}

/**
 * Listens on the server's port while the server starts, which can take as long as its database is unreachable. Serves
 * health checks, so that probes and load balancers learn that the process is alive but not ready (specification 4.10).
 * Every other request gets a 503. It authenticates nobody and reads no body.
 *
 * Every connection is closed after its response: an open one would be cut when the server itself takes over, perhaps
 * with a request on its way.
 */
export class StartingListener {
  private readonly server: Http2SecureServer;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly checks: readonly HealthCheck[],
    tls: SecureContextOptions,
  ) {
    this.server = createSecureServer(
      { ...tls, allowHTTP1: true, handshakeTimeout: patienceMs, settings: { maxConcurrentStreams: 100 } },
      (request, response) => {
        // A failed response affects only its own connection.
        this.answer(request, response).catch(() => request.socket.destroy());
      },
    );
    this.server.maxConnections = maxConnections;
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.setTimeout(patienceMs, () => socket.destroy());
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.server.on('tlsClientError', () => undefined);
    this.server.on('sessionError', () => undefined);
  }

  /** Resolves when it listens. @throws the error of listening, which the server would get too. */
  static async open({ address, port, tls, checks }: StartingListenerOptions): Promise<StartingListener> {
    const listener = new StartingListener(checks, tls);
    listener.server.listen(port, address);
    await once(listener.server, 'listening');
    return listener;
  }

  /** Resolves when the port is free for the server itself. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    // Only stops listening: the server's own `close` would also cut connections whose request is on its way.
    NetServer.prototype.close.call(this.server);
    const timer = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, lingerMs);
    await closed;
    clearTimeout(timer);
  }

  private async answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const [pathname = '', query = ''] = request.url.split('?', 2);
    const searchParams = new URLSearchParams(query);
    const [, path = '', ...rest] = pathname.split('/');
    if (!isHealthPath(path)) return refuse(response);
    if (rest.length === 0) {
      const report = await runChecks(path, this.checks, searchParams.getAll('exclude'));
      return send(response, report.healthy ? 200 : 500, 'text/plain; charset=utf-8', shownReport(report, searchParams));
    }
    const check = findCheck(this.checks, path, rest.join('/'));
    if (check === undefined) return refuse(response);
    const passed = isPassed(await runCheck(check));
    const text = passed ? 'ok' : `internal server error: ${check.name} failed\n`;
    send(response, passed ? 200 : 500, 'text/plain; charset=utf-8', text);
  }
}

function refuse(response: Http2ServerResponse): void {
  const error = serviceUnavailableError('the server is starting');
  response.setHeader('retry-after', '1');
  send(response, error.code, 'application/json', `${JSON.stringify(error.toStatus())}\n`);
}

function send(response: Http2ServerResponse, code: number, contentType: string, text: string): void {
  if (response.req.httpVersionMajor === 1) response.setHeader('connection', 'close');
  else closeAfter(response.stream);
  response.writeHead(code, {
    'cache-control': 'no-cache, private',
    'content-type': contentType,
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(text),
  });
  readUnwanted(response as unknown as FastifyReply['raw'], { answeredAt: undefined });
  response.end(text);
}

/** Closes the session after the response: the client learns that it must send its next request elsewhere. */
function closeAfter(stream: ServerHttp2Stream): void {
  // A closed stream no longer refers to its session.
  const { session } = stream;
  stream.once('close', () => session?.close());
}
