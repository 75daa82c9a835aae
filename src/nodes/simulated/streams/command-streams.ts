import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import { openChannels } from './channel-socket.js';
import { ProtocolError } from './protocol-error.js';
import { SpdyConnection } from './spdy-connection.js';
import type { SpdyStream } from './spdy-stream.js';

/** The streams of one command, whichever protocol carries them. Streams that were not requested are undefined. */
export interface CommandStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** JSON objects with `Width` and `Height`. */
  readonly resize: Readable | undefined;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
  /** Reports how the command has ended, after its output, and closes the connection. */
  readonly finish: (exitCode: number) => Promise<void>;
}

const spdyProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'] as const;
/** The number of the channel of each stream within a WebSocket. */
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** How long a client may take to begin its streams. */
const openingMs = 30_000;

interface Wanted {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly resize: boolean;
}

/** Answers the upgrade of `exec` and `attach`. @throws ProtocolError before anything is answered */
export async function openCommandStreams(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  query: URLSearchParams,
): Promise<CommandStreams> {
  const has = (name: string) => query.get(name) === '1';
  const tty = has('tty');
  const wanted = { stdin: has('input'), stdout: has('output'), stderr: has('error') && !tty, resize: tty };
  if (!wanted.stdin && !wanted.stdout && !wanted.stderr) {
    throw new ProtocolError('you must specify at least 1 of stdin, stdout, stderr');
  }
  const protocol = (request.headers.upgrade ?? '').toLowerCase();
  if (protocol === 'websocket') return overWebSocket(request, socket, head, wanted);
  if (protocol === 'spdy/3.1') return overSpdy(request, socket, head, wanted);
  throw new ProtocolError('unable to upgrade: unknown protocol');
}

/** The first of the protocols that the client of a SPDY connection offers. @throws ProtocolError */
export function acceptSpdy(request: IncomingMessage, socket: Duplex, known: readonly string[]): string {
  const offered = (request.headers['x-stream-protocol-version'] ?? '').toString().split(',');
  const chosen = offered.map((name) => name.trim()).find((name) => known.includes(name));
  if (chosen === undefined) throw new ProtocolError(`unable to upgrade: unable to negotiate protocol: ${offered}`);
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1'];
  socket.write(`${lines.join('\r\n')}\r\nX-Stream-Protocol-Version: ${chosen}\r\n\r\n`);
  return chosen;
}

async function overSpdy(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  wanted: Wanted,
): Promise<CommandStreams> {
  const protocol = acceptSpdy(request, socket, spdyProtocols);
  const names = ['error', ...(['stdin', 'stdout', 'stderr', 'resize'] as const).filter((name) => wanted[name])];
  const found = new Map<string, SpdyStream>();
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  let connection: SpdyConnection | undefined;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => socket.destroy(), openingMs);
    connection = new SpdyConnection(socket, (stream) => {
      found.set(stream.headers.get('streamtype') ?? '', stream);
      if (names.every((name) => found.has(name))) resolve();
    });
    void connection.run(head);
    gone.signal.addEventListener('abort', () => reject(new ProtocolError('the client has left')), { once: true });
    socket.once('close', () => clearTimeout(late));
    gone.signal.addEventListener('abort', () => clearTimeout(late), { once: true });
  });
  const [stdout, stderr] = [found.get('stdout'), found.get('stderr')];
  return {
    stdin: found.get('stdin'),
    stdout,
    stderr,
    resize: found.get('resize'),
    gone: gone.signal,
    finish: async (exitCode) => {
      await Promise.all([stdout, stderr].map(ended));
      const status = found.get('error') as SpdyStream;
      status.write(protocol === spdyProtocols[0] ? statusText(exitCode) : plainStatus(exitCode));
      await ended(status);
      await connection?.end();
    },
  };
}

async function overWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  wanted: Wanted,
): Promise<CommandStreams> {
  const open = await openChannels(request, socket, head);
  const gone = new AbortController();
  void open.closed.then(() => gone.abort());
  const hasStatus = open.protocol.startsWith('v4.');
  const [stdout, stderr] = (['stdout', 'stderr'] as const).map((name) =>
    wanted[name] ? open.output(channels[name]) : undefined,
  );
  return {
    stdin: wanted.stdin ? open.input(channels.stdin) : undefined,
    stdout,
    stderr,
    resize: wanted.resize ? open.input(channels.resize) : undefined,
    gone: gone.signal,
    finish: async (exitCode) => {
      await Promise.all([stdout, stderr].map(ended));
      const status = open.output(channels.error);
      status.write(hasStatus ? statusText(exitCode) : plainStatus(exitCode));
      await ended(status);
      open.close();
      await open.closed;
    },
  };
}

function ended(stream: Writable | undefined): Promise<void> {
  if (stream === undefined || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('close', resolve);
    stream.once('finish', resolve);
    stream.end();
  });
}

function plainStatus(exitCode: number): string {
  return exitCode === 0
    ? ''
    : `command terminated with non-zero exit code: error executing command, exit code ${exitCode}`;
}

/** The status that newer clients read the exit code from. */
function statusText(exitCode: number): string {
  if (exitCode === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: plainStatus(exitCode),
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  });
}
