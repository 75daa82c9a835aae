import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CommandStreams, openCommandStreams } from '../../src/nodes/simulated/streams/command-streams.js';
import { servePorts } from '../../src/nodes/simulated/streams/port-streams.js';
import { ProtocolError } from '../../src/nodes/simulated/streams/protocol-error.js';
import { endWithUs } from './child-guard.js';
import { serverAuth, TestIdentity } from './test-authority.js';

/** A request as it arrived. */
export interface AgentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type UpgradeBehaviour = (socket: Duplex, request: IncomingMessage) => void;

/**
 * A node agent with streams only: it runs commands as processes of this machine, and forwards to ports of this machine.
 * It serves only callers with a certificate of `callers`.
 */
export class NodeAgent {
  readonly requests: AgentRequest[] = [];
  /** Answers to upgrades that replace the default ones, by the path without its query. */
  readonly upgrades = new Map<string, UpgradeBehaviour>();
  /** Answers to other requests, by the beginning of their path. */
  readonly answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  /** Existing containers; exec into other ones is refused. */
  readonly containers = new Set<string>();
  openStreams = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** The authority that signed the certificate of the agent. */
    readonly authority: string,
  ) {}

  static async start(callers: string): Promise<NodeAgent> {
    const root = await TestIdentity.root('agents');
    const names = [{ type: 'ip', value: '127.0.0.1' }] as const;
    const own = await root.issue({ subject: [{ CN: ['agent'] }], usages: [serverAuth], names });
    const server = createServer({ cert: own.chain, key: own.key, ca: callers, requestCert: true });
    const agent = new NodeAgent(server, root.cert);
    server.on('connection', (socket: Socket) => {
      agent.sockets.add(socket);
      socket.once('close', () => agent.sockets.delete(socket));
    });
    server.on('request', (request, response) => void agent.answer(request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      agent.openStreams++;
      socket.once('close', () => agent.openStreams--);
      void agent.upgrade(request, socket, head);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return agent;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The last request whose path begins with the prefix. */
  last(path: string): AgentRequest | undefined {
    return this.requests.findLast(({ url }) => url.startsWith(path));
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const found = [...this.answers].find(([path]) => url.startsWith(path))?.[1];
    if (found !== undefined) {
      this.requests.push({ method, url, headers, body: '' });
      found(request, response);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.requests.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
    const { pathname, searchParams } = new URL(url, 'https://agent');
    if (pathname.startsWith('/containerLogs/')) {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('first\n');
      if (searchParams.get('follow') !== 'true') response.end();
      else setTimeout(() => response.end('second\n'), 300);
      return;
    }
    if (pathname === '/pods') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"kind":"PodList"}');
      return;
    }
    response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { method = '', url = '', headers } = request;
    this.requests.push({ method, url, headers, body: '' });
    socket.on('error', () => socket.destroy());
    const { pathname, searchParams } = new URL(url, 'https://agent');
    const special = this.upgrades.get(pathname);
    if (special !== undefined) {
      special(socket, request);
      return;
    }
    const [, what, , , container = ''] = pathname.split('/');
    try {
      if (what === 'portForward') {
        await servePorts(request, socket, head, searchParams, ({ port, data, error }) => {
          const target = connect(port, '127.0.0.1');
          target.once('error', (fault) => {
            error.end(`an error occurred forwarding ${port}: ${fault.message}`);
            data.end();
          });
          data.on('error', () => target.destroy());
          target.pipe(data);
          data.pipe(target);
          target.once('close', () => error.end());
        });
      } else if (what !== 'exec' && what !== 'attach') refuse(socket, 404, 'no such path');
      else if (!this.containers.has(container)) refuse(socket, 404, `container not found ("${container}")`);
      else {
        const streams = await openCommandStreams(request, socket, head, searchParams);
        await run(streams, what === 'attach' ? ['sh', '-c', 'echo attached; cat'] : searchParams.getAll('command'));
      }
    } catch (error) {
      if (error instanceof ProtocolError && !socket.destroyed) refuse(socket, 400, error.message);
      else socket.destroy();
    }
  }
}

function refuse(socket: Duplex, code: number, message: string): void {
  const head = `HTTP/1.1 ${code} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${message}`);
}

/** Runs a command on this machine with the streams of a client. */
async function run(streams: CommandStreams, [program = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: 'pipe' });
  endWithUs(child);
  streams.gone.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  child.stdin.on('error', () => undefined);
  if (streams.stdin === undefined) child.stdin.end();
  else streams.stdin.pipe(child.stdin);
  streams.stdin?.on('error', () => undefined);
  const outputs = [
    [child.stdout, streams.stdout],
    [child.stderr, streams.stderr ?? streams.stdout],
  ] as const;
  for (const [from, to] of outputs) {
    to?.on('error', () => child.kill('SIGKILL'));
    if (to === undefined) from.resume();
    else from.pipe(to, { end: false });
  }
  streams.resize?.on('data', (size: Buffer) => streams.stdout?.write(`resized ${size.toString('utf8').trim()}\n`));
  const code = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (exit) => resolve(exit ?? 137));
  });
  if (!streams.gone.aborted) await streams.finish(code);
}
