import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createListener, type Server as Listener } from 'node:net';
import type { Duplex } from 'node:stream';
import { endConnection } from '../../base/machinery/end-connection.js';
import { paceServer } from '../../base/machinery/pace-server.js';
import { restrictUpgrades } from '../../base/machinery/restrict-upgrades.js';
import type { Timers } from '../../base/machinery/timers.js';
import { formatLines, type LogPart, linesOf, nextLineAt, partOfLines, presentRun, previousRun } from './log-lines.js';
import type { PodMachine } from './pod-machine.js';
import type { PodRunner } from './pod-runner.js';
import { PretendedUse } from './pretended-use.js';
import { openCommandStreams } from './streams/command-streams.js';
import { servePorts } from './streams/port-streams.js';
import { pretendCommand, pretendPort } from './streams/pretence.js';
import { ProtocolError } from './streams/protocol-error.js';

export interface NodeServerOptions {
  /** The addresses to listen at, all on one port. */
  readonly addresses: readonly string[];
  /** The port to listen on; 0: any. */
  readonly port: number;
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities of the clients that may read logs; undefined: everybody may. */
  readonly clientAuthority: string | undefined;
  readonly timers: Timers;
  /** Finds a pod of the node that has this address. */
  readonly findPod: (namespace: string, name: string, address: string) => PodRunner | undefined;
  /** Returns the pods of the node that has this address; undefined: no node has one of its own. */
  readonly podsAt: (address: string) => Iterable<PodRunner> | undefined;
}

/** An error response instead of a log. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** How often the end of a run is checked while somebody follows its log. */
const followMs = 500;

/** How many ports are tried when any will do: one may be free on one address and taken on another. */
const mostTries = 10;

/**
 * The HTTPS server that all simulated nodes of a process share, on the addresses of all of them. It serves logs and
 * pretends to run commands in the pods of the node whose address was used.
 */
export class NodeServer {
  private readonly stopping = new AbortController();
  private readonly upgraded = new Set<Duplex>();
  private readonly use = new PretendedUse();

  private readonly listeners: Listener[] = [];
  private chosen = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: NodeServerOptions,
  ) {}

  static async start(options: NodeServerOptions): Promise<NodeServer> {
    const { clientAuthority, certificate, privateKey } = options;
    const server = createServer({
      cert: certificate,
      key: privateKey,
      minVersion: 'TLSv1.2',
      ...(clientAuthority === undefined ? {} : { ca: clientAuthority, requestCert: true, rejectUnauthorized: true }),
    });
    restrictUpgrades(server);
    const own = new NodeServer(server, options);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void own.answer(request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      own.upgraded.add(socket);
      socket.once('close', () => own.upgraded.delete(socket));
      void own.stream(request, socket, head);
    });
    paceServer(server);
    await own.listen();
    return own;
  }

  private async listen(): Promise<void> {
    const { port, addresses } = this.options;
    for (let tries = 1; ; tries++) {
      try {
        let chosen = port;
        for (const address of new Set(addresses)) {
          const listener = createListener((socket) => void this.server.emit('connection', socket));
          this.listeners.push(listener);
          listener.listen(chosen, address);
          await once(listener, 'listening');
          chosen = (listener.address() as AddressInfo).port;
        }
        this.chosen = chosen;
        return;
      } catch (error) {
        for (const listener of this.listeners.splice(0)) listener.close();
        if (port !== 0 || tries === mostTries || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      }
    }
  }

  /** The port on which it listens, at every address. */
  get port(): number {
    return this.chosen;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const closed = Promise.all(this.listeners.map((listener) => once(listener, 'close')));
    for (const listener of this.listeners) listener.close();
    this.server.closeAllConnections();
    for (const socket of this.upgraded) socket.destroy();
    await closed;
  }

  /** Opens the streams of `exec`, `attach` and `portForward`. */
  private async stream(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      const url = new URL(request.url ?? '/', 'https://node');
      const [, what, namespace = '', name = '', container = ''] = url.pathname.split('/').map(decodeURIComponent);
      const machine = this.options.findPod(namespace, name, addressOf(request))?.machine;
      if (machine === undefined) throw new Refusal(404, `pod "${name}" not found`);
      if (what === 'portForward') {
        const pod = `${namespace}/${name}`;
        await servePorts(request, socket, head, url.searchParams, (connection) => pretendPort(pod, connection));
        return;
      }
      if (what !== 'exec' && what !== 'attach') throw new Refusal(404, '404 page not found');
      const run = machine.container(container);
      if (run?.runningSince === undefined) throw new Refusal(404, `container not found ("${container}")`);
      const streams = await openCommandStreams(request, socket, head, url.searchParams);
      await pretendCommand(streams, container, what === 'exec' ? url.searchParams.getAll('command') : ['cat']);
    } catch (error) {
      const { status, message } =
        error instanceof Refusal
          ? error
          : { status: 400, message: error instanceof ProtocolError ? error.message : '' };
      if (socket.destroyed) return;
      const fields = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`;
      endConnection(socket, `HTTP/1.1 ${status} Refused\r\n${fields}\r\n\r\n${message}`);
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      const url = new URL(request.url ?? '/', 'https://node');
      const [, first, namespace = '', name = '', container = '', more] = url.pathname
        .split('/')
        .map(decodeURIComponent);
      if (request.method !== 'GET') throw new Refusal(405, 'Method Not Allowed');
      if (url.pathname === '/healthz') {
        response.end('ok');
        return;
      }
      if (url.pathname === '/metrics/resource') {
        const address = addressOf(request);
        const pods = this.options.podsAt(address);
        if (pods === undefined) throw new Refusal(404, 'the nodes share an address, so their use is not known');
        response.writeHead(200, metricsText).end(this.use.text(address, pods, this.options.timers.now()));
        return;
      }
      if (first !== 'containerLogs' || container === '' || more !== undefined)
        throw new Refusal(404, '404 page not found');
      const machine = this.options.findPod(namespace, name, addressOf(request))?.machine;
      if (machine === undefined) throw new Refusal(404, `pod "${name}" not found`);
      await this.sendLog(machine, container, url.searchParams, response, gone.signal);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else if (error instanceof Refusal) response.writeHead(error.status, plainText).end(`${error.message}\n`);
      else response.writeHead(400, plainText).end('the request cannot be read\n');
    }
  }

  private async sendLog(
    machine: PodMachine,
    container: string,
    query: URLSearchParams,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    const { timers } = this.options;
    const { name } = machine.plan;
    const run = machine.container(container);
    if (run === undefined) throw new Refusal(404, `container "${container}" not found in pod "${name}"`);
    const isPrevious = query.get('previous') === 'true';
    const logged = isPrevious ? previousRun(run) : presentRun(run);
    if (logged === undefined) {
      throw new Refusal(
        400,
        isPrevious
          ? `previous terminated container "${container}" in pod "${name}" not found`
          : `container "${container}" in pod "${name}" is waiting to start: ${run.status(timers.now(), 'ContainerCreating').state.waiting?.reason}`,
      );
    }
    const part = partFrom(query, timers.now());
    let left = part.limitBytes ?? Number.POSITIVE_INFINITY;
    /** Returns false when nothing more may be sent. */
    const send = (text: string): boolean => {
      const bytes = Buffer.from(text).subarray(0, Math.min(left, text.length * 4));
      left -= bytes.length;
      if (bytes.length > 0) response.write(bytes);
      return left > 0 && !gone.aborted;
    };
    response.writeHead(200, plainText);
    response.flushHeaders();
    let reported = timers.now();
    let mayMore = send(formatLines(partOfLines(linesOf(run, logged, reported), part), part));
    const ended = AbortSignal.any([gone, this.stopping.signal]);
    while (mayMore && query.get('follow') === 'true' && run.runningSince === logged.since && !ended.aborted) {
      const now = timers.now();
      const next = nextLineAt(run, logged, now) ?? now + followMs;
      await timers.wait(Math.min(next - now, followMs), ended);
      const after = reported;
      reported = timers.now();
      const fresh = linesOf(run, logged, reported).filter(({ at }) => at > after);
      if (fresh.length > 0) mayMore = send(formatLines(fresh, part));
    }
    response.end();
  }
}

/** The address of this machine that a client connected to. */
function addressOf({ socket }: IncomingMessage): string {
  return (socket.localAddress ?? '').replace(/^::ffff:/, '');
}

const plainText = { 'content-type': 'text/plain' };
const metricsText = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

function partFrom(query: URLSearchParams, now: number): LogPart {
  const number = (name: string) => {
    const text = query.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const seconds = number('sinceSeconds');
  const time = Date.parse(query.get('sinceTime') ?? '');
  return {
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
    since: seconds === undefined ? (Number.isNaN(time) ? undefined : time) : now - 1000 * seconds,
    timestamps: query.get('timestamps') === 'true',
  };
}
