import type { IncomingMessage } from 'node:http';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { openChannels } from './channel-socket.js';
import { acceptSpdy } from './command-streams.js';
import { ProtocolError } from './protocol-error.js';
import { SpdyConnection } from './spdy-connection.js';
import type { SpdyStream } from './spdy-stream.js';

/** One connection to a port of a pod. */
export interface PortConnection {
  readonly port: number;
  readonly data: Duplex;
  /** Takes the message that reports why the connection failed. */
  readonly error: Writable;
}

/** Answers the upgrade of `portForward`. Resolves when the client has left. @throws ProtocolError before that */
export async function servePorts(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  query: URLSearchParams,
  onConnection: (connection: PortConnection) => void,
): Promise<void> {
  const protocol = (request.headers.upgrade ?? '').toLowerCase();
  if (protocol === 'websocket') return overWebSocket(request, socket, head, query, onConnection);
  if (protocol !== 'spdy/3.1') throw new ProtocolError('unable to upgrade: unknown protocol');
  acceptSpdy(request, socket, ['portforward.k8s.io']);
  const waiting = new Map<string, SpdyStream>();
  await new SpdyConnection(socket, (stream) => {
    // Each connection is a pair: one stream for errors, one for the bytes.
    const { headers } = stream;
    const id = `${headers.get('requestid') ?? ''}`;
    const other = waiting.get(id);
    if (other === undefined) {
      waiting.set(id, stream);
      stream.once('close', () => waiting.delete(id));
      return;
    }
    waiting.delete(id);
    const [error, data] = headers.get('streamtype') === 'data' ? [other, stream] : [stream, other];
    onConnection({ port: Number(headers.get('port')), data, error });
  }).run(head);
}

/** Each port has two channels, which begin with its number: one for the bytes, one for errors. */
async function overWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  query: URLSearchParams,
  onConnection: (connection: PortConnection) => void,
): Promise<void> {
  const ports = query.getAll('port').flatMap((text) => text.split(',').map(Number));
  if (ports.length === 0) throw new ProtocolError('query parameter "port" is required');
  const open = await openChannels(request, socket, head);
  for (const [i, port] of ports.entries()) {
    const [input, output, error] = [open.input(2 * i), open.output(2 * i), open.output(2 * i + 1)];
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    output.write(number);
    error.write(number);
    onConnection({ port, data: joined(input, output), error });
  }
  await open.closed;
}

function joined(input: Readable, output: Writable): Duplex {
  return Duplex.from({ readable: input, writable: output } as unknown as Iterable<unknown>);
}
