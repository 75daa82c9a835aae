import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { endConnection } from '../../../base/machinery/end-connection.js';
import { paceServer } from '../../../base/machinery/pace-server.js';
import { restrictUpgrades } from '../../../base/machinery/restrict-upgrades.js';
import type { CertificatePair } from '../node/node-certificates.js';
import { agentVerbOf } from './agent-authorization.js';
import { AgentPages } from './agent-pages.js';
import type { AgentServerDependencies, ServerCertificates } from './agent-server-dependencies.js';
import { CallerRefusal } from './caller-refusal.js';
import { openRuntimeStream } from './runtime-streams.js';
import { joinWithRuntime } from './stream-proxy.js';

const plainText = { 'content-type': 'text/plain; charset=utf-8' };

/**
 * The HTTPS server of an agent: logs, commands and streams of containers, pods, metrics. Every request is authorized.
 */
export class AgentServer {
  private readonly stopping = new AbortController();
  private readonly upgraded = new Set<Duplex>();
  private readonly pages: AgentPages;

  private constructor(
    private readonly server: Server,
    private readonly dependencies: AgentServerDependencies,
  ) {
    this.pages = new AgentPages(dependencies, this.stopping.signal);
  }

  static async start(dependencies: AgentServerDependencies): Promise<AgentServer> {
    const { clientAuthority } = dependencies.certificates;
    const server = createServer({
      ...secureContext(dependencies.certificates),
      // A certificate of another authority counts as no credentials and does not fail the connection.
      ...(clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
    });
    restrictUpgrades(server);
    const own = new AgentServer(server, dependencies);
    server.on('request', (request, response) => void own.answer(request, response));
    server.on('upgrade', (request, socket, head) => void own.upgrade(request, socket, head));
    paceServer(server);
    server.listen(dependencies.port, dependencies.address);
    await once(server, 'listening');
    return own;
  }

  /** Replaces the certificate for new connections. */
  useCertificate(pair: CertificatePair): void {
    const { clientAuthority } = this.dependencies.certificates;
    this.server.setSecureContext(secureContext({ ...pair, clientAuthority }));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    for (const socket of this.upgraded) socket.destroy();
    await closed;
  }

  /** @throws CallerRefusal */
  private async admit(request: IncomingMessage, opensStream: boolean, signal: AbortSignal): Promise<URL> {
    const { authentication, authorization } = this.dependencies;
    const caller = await authentication.callerOf(request, signal);
    const url = URL.parse(request.url ?? '/', 'https://node');
    if (url === null) throw new CallerRefusal(400, 'the path cannot be read');
    const verb = agentVerbOf(request.method ?? 'GET', opensStream);
    await authorization.authorize(caller, verb, url.pathname, signal);
    return url;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.stopping.signal]);
    try {
      const url = await this.admit(request, false, signal);
      await this.pages.answer(request, url, response, signal);
    } catch (error) {
      if (response.headersSent || signal.aborted) {
        response.destroy();
        return;
      }
      const { status, message } = refusalOf(error);
      if (status >= 500)
        this.dependencies.logger.warn('a request to the node agent failed', { url: request.url, error });
      response.writeHead(status, plainText).end(`${message}\n`);
    }
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.upgraded.add(socket);
    socket.once('close', () => this.upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    try {
      const url = await this.admit(request, true, this.stopping.signal);
      const target = await openRuntimeStream(this.dependencies, url);
      await joinWithRuntime(request, socket, head, target, this.dependencies.streamIdleMs);
    } catch (error) {
      if (socket.destroyed) return;
      const { status, message } = refusalOf(error);
      const fields = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`;
      endConnection(socket, `HTTP/1.1 ${status} Refused\r\n${fields}\r\n\r\n${message}`);
    }
  }
}

function secureContext({ certificate, privateKey, clientAuthority }: ServerCertificates) {
  const ca = clientAuthority === undefined ? {} : { ca: clientAuthority };
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' as const, ...ca };
}

function refusalOf(error: unknown): { status: number; message: string } {
  if (error instanceof CallerRefusal) return error;
  if (error instanceof URIError) return { status: 400, message: 'the path cannot be read' };
  return { status: 500, message: error instanceof Error ? error.message : 'internal error' };
}
