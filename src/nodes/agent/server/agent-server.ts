import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { Machine } from '../node/machine.js';
import type { CertificatePair } from '../node/node-certificates.js';
import type { PodManager } from '../pod-manager.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import type { ProbeCounts } from '../probes/probe-counts.js';
import { AgentPages } from './agent-pages.js';
import type { AgentAuthentication } from './authentication.js';
import type { AgentAuthorization } from './authorization.js';
import { Refusal } from './caller.js';
import { openRuntimeStream } from './runtime-streams.js';
import { joinWithRuntime } from './stream-proxy.js';

export interface ServerCertificates {
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities of client certificates in PEM; undefined: none are known. */
  readonly clientAuthority: string | undefined;
}

export interface AgentServerDependencies {
  readonly address: string;
  readonly port: number;
  readonly certificates: ServerCertificates;
  readonly authentication: AgentAuthentication;
  readonly authorization: AgentAuthorization;
  readonly manager: PodManager;
  readonly runtime: ContainerRuntime;
  readonly view: RuntimeView;
  readonly nodeName: string;
  readonly rootFolder: string;
  readonly logFolder: string;
  readonly healthProblem: () => string | undefined;
  readonly machine: Machine;
  readonly probeCounts: ProbeCounts;
  /** The configuration in force, as `/configz` shows it. */
  readonly configuration: object;
  /** Streams without a byte for this long end. */
  readonly streamIdleMs: number;
  /** Whether there are commands, streams and logs, or only numbers. */
  readonly debugging: boolean;
  readonly timers: Timers;
  readonly logger: Logger;
}

const plainText = { 'content-type': 'text/plain; charset=utf-8' };

/** The HTTPS server of an agent: logs, commands and streams of containers, pods, numbers. Every request needs a right. */
export class AgentServer {
  private readonly stopping = new AbortController();
  private readonly upgraded = new Set<Duplex>();
  private readonly pages: AgentPages;

  private constructor(
    private readonly server: Server,
    private readonly parts: AgentServerDependencies,
  ) {
    this.pages = new AgentPages(parts, this.stopping.signal);
  }

  static async start(parts: AgentServerDependencies): Promise<AgentServer> {
    const { clientAuthority } = parts.certificates;
    const server = createServer({
      ...secureContext(parts.certificates),
      // Certificates of other authorities are no credentials, but no fault either.
      ...(clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
    });
    const own = new AgentServer(server, parts);
    server.on('request', (request, response) => void own.answer(request, response));
    server.on('upgrade', (request, socket, head) => void own.upgrade(request, socket, head));
    server.listen(parts.port, parts.address);
    await once(server, 'listening');
    return own;
  }

  /** New connections see another certificate. */
  useCertificate(pair: CertificatePair): void {
    const { clientAuthority } = this.parts.certificates;
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

  /** @throws Refusal */
  private async admit(request: IncomingMessage, signal: AbortSignal): Promise<URL> {
    const { authentication, authorization } = this.parts;
    const caller = await authentication.callerOf(request, signal);
    const url = new URL(request.url ?? '/', 'https://node');
    await authorization.authorize(caller, request.method ?? 'GET', url.pathname, signal);
    return url;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.stopping.signal]);
    try {
      const url = await this.admit(request, signal);
      await this.pages.answer(request, url, response, signal);
    } catch (error) {
      if (response.headersSent || signal.aborted) {
        response.destroy();
        return;
      }
      const { status, message } = refusalOf(error);
      if (status >= 500) this.parts.logger.warn('a request to the node agent failed', { url: request.url, error });
      response.writeHead(status, plainText).end(`${message}\n`);
    }
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.upgraded.add(socket);
    socket.once('close', () => this.upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    try {
      const url = await this.admit(request, this.stopping.signal);
      const target = await openRuntimeStream(this.parts, url);
      await joinWithRuntime(request, socket, head, target, this.parts.streamIdleMs);
    } catch (error) {
      if (socket.destroyed) return;
      const { status, message } = refusalOf(error);
      const fields = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`;
      socket.end(`HTTP/1.1 ${status} Refused\r\n${fields}\r\n\r\n${message}`);
    }
  }
}

function secureContext({ certificate, privateKey, clientAuthority }: ServerCertificates) {
  const ca = clientAuthority === undefined ? {} : { ca: clientAuthority };
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' as const, ...ca };
}

function refusalOf(error: unknown): { status: number; message: string } {
  if (error instanceof Refusal) return error;
  if (error instanceof URIError) return { status: 400, message: 'the path can not be read' };
  return { status: 500, message: error instanceof Error ? error.message : 'internal error' };
}
