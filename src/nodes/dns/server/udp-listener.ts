import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** Receives a message of a client, and returns the response, now or later. */
export type MessageHandler = (message: Buffer, client: string) => Buffer | undefined | Promise<Buffer | undefined>;

const receiveBytes = 4 * 1024 * 1024;

/** Serves queries over UDP at one address. */
export class UdpListener {
  private constructor(private readonly socket: Socket) {}

  /** @throws Error when it can't listen */
  static async start(address: string, port: number, handle: MessageHandler): Promise<UdpListener> {
    const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', ipv6Only: isIPv6(address) });
    const listener = new UdpListener(socket);
    socket.on('message', (message, sender) => listener.take(message, sender, handle));
    socket.bind(port, address);
    await once(socket, 'listening');
    // An error of one packet must not stop the server.
    socket.on('error', () => undefined);
    try {
      socket.setRecvBufferSize(receiveBytes);
    } catch {
      // The kernel allows less.
    }
    return listener;
  }

  get port(): number {
    return this.socket.address().port;
  }

  async stop(): Promise<void> {
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
    this.isClosed = true;
  }

  private isClosed = false;

  private take(message: Buffer, { address, port }: RemoteInfo, handle: MessageHandler): void {
    const send = (answer: Buffer | undefined) => {
      if (answer !== undefined && !this.isClosed) this.socket.send(answer, port, address, () => undefined);
    };
    const answer = handle(message, address);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
}
