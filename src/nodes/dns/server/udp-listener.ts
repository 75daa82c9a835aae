import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** Receives a message of a client, and returns the response, now or later. */
export type MessageHandler = (message: Buffer, client: string) => Buffer | undefined | Promise<Buffer | undefined>;

const receiveBytes = 4 * 1024 * 1024;
/** Linux divides senders, by their address and port, among so many sockets. Other kernels do not. */
const socketCount = process.platform === 'linux' ? 16 : 1;

/**
 * Serves queries over UDP at one address. Each of its sockets has a buffer of its own and is read in turn: a sender of more than can be
 * read fills one of them, and of the queries of others only those are lost that go to the same one.
 */
export class UdpListener {
  private isClosed = false;

  private constructor(private readonly sockets: readonly Socket[]) {}

  /** @throws Error when it can't listen, also if another program shares its port with everybody */
  static async start(address: string, port: number, handle: MessageHandler): Promise<UdpListener> {
    const sockets: Socket[] = [];
    const listener = new UdpListener(sockets);
    try {
      // Sockets that share a port do not notice others that do the same.
      const alone = await bound(address, port, false);
      const own = alone.address().port;
      await closed(alone);
      for (let i = 0; i < socketCount; i++) sockets.push(await bound(address, own, socketCount > 1));
    } catch (error) {
      await listener.stop();
      throw error;
    }
    for (const socket of sockets) {
      socket.on('message', (message, sender) => listener.take(socket, message, sender, handle));
    }
    return listener;
  }

  get port(): number {
    return (this.sockets[0] as Socket).address().port;
  }

  async stop(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.sockets.map(closed));
  }

  private take(socket: Socket, message: Buffer, { address, port }: RemoteInfo, handle: MessageHandler): void {
    const send = (answer: Buffer | undefined) => {
      if (answer !== undefined && !this.isClosed) socket.send(answer, port, address, () => undefined);
    };
    const answer = handle(message, address);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
}

async function bound(address: string, port: number, reusePort: boolean): Promise<Socket> {
  const isSix = isIPv6(address);
  const socket = createSocket({ type: isSix ? 'udp6' : 'udp4', ipv6Only: isSix, reusePort });
  socket.bind(port, address);
  await once(socket, 'listening');
  // An error of one packet must not stop the server.
  socket.on('error', () => undefined);
  try {
    socket.setRecvBufferSize(receiveBytes);
  } catch {
    // The kernel allows less.
  }
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  const isOver = once(socket, 'close');
  socket.close();
  await isOver;
}
