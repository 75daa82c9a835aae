import type { IncomingMessage } from 'node:http';
import { type Duplex, PassThrough, Writable } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** The older protocols of channels: the first byte of a message names its channel; with base64, the first digit does. */
const protocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', 'channel.k8s.io', 'base64.channel.k8s.io'] as const;

const acceptor = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  clientTracking: false,
  maxPayload: 32 * 1024 * 1024,
  handleProtocols: (offered) => protocols.find((name) => offered.has(name)) ?? false,
});

/** Streams within a WebSocket. */
export interface ChannelSocket {
  readonly protocol: string;
  /** The client's data on a channel. */
  readonly input: (channel: number) => PassThrough;
  /** The destination of data for the client on a channel. */
  readonly output: (channel: number) => Writable;
  readonly close: () => void;
  readonly closed: Promise<void>;
}

/** Answers 101 and divides the connection into channels. */
export function openChannels(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<ChannelSocket> {
  return new Promise((resolve) => {
    acceptor.handleUpgrade(request, socket, head, (webSocket) => resolve(channelsOf(webSocket)));
  });
}

function channelsOf(webSocket: WebSocket): ChannelSocket {
  const { protocol } = webSocket;
  const isBase64 = protocol.includes('base64');
  const inputs = new Map<number, PassThrough>();
  const input = (channel: number) => {
    let found = inputs.get(channel);
    if (found === undefined) {
      found = new PassThrough();
      inputs.set(channel, found);
    }
    return found;
  };
  webSocket.on('error', () => webSocket.terminate());
  webSocket.on('message', (data: Buffer) => {
    const [first] = data;
    if (first === undefined) return;
    const channel = isBase64 ? first - 0x30 : first;
    const body = isBase64 ? Buffer.from(data.subarray(1).toString('latin1'), 'base64') : data.subarray(1);
    const found = inputs.get(channel);
    if (found === undefined || body.length === 0 || found.write(body)) return;
    webSocket.pause();
    found.once('drain', () => webSocket.resume());
  });
  const closed = new Promise<void>((resolve) => {
    webSocket.once('close', () => {
      for (const stream of inputs.values()) stream.end();
      resolve();
    });
  });
  const send = (channel: number, bytes: Buffer, done: (error?: Error | null) => void) => {
    const message = isBase64 ? `${channel}${bytes.toString('base64')}` : Buffer.concat([Buffer.from([channel]), bytes]);
    webSocket.send(message, { binary: !isBase64 }, () => done());
  };
  return {
    protocol,
    input,
    output: (channel) =>
      new Writable({
        write: (chunk: Buffer, _encoding, done) => send(channel, chunk, done),
      }),
    close: () => webSocket.close(1000),
    closed,
  };
}
