import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';

export interface LoadOptions {
  /** Queries that wait for a response at a time. */
  readonly atOnce: number;
  /** Pause after a response. */
  readonly pauseMs: number;
  readonly from: string;
}

const patienceMs = 1_000;

/** A port of a client. */
class Sender {
  private heard: (isAnswered: boolean) => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('message', () => this.heard(true));
  }

  static async open(from: string): Promise<Sender> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
    socket.bind(0, from);
    await once(socket, 'listening');
    return new Sender(socket);
  }

  asks(query: Buffer, port: number): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), patienceMs);
      this.heard = (value) => {
        clearTimeout(timer);
        resolve(value);
      };
      this.socket.send(query, port, '127.0.0.1');
    });
  }

  close(): void {
    this.socket.close();
  }
}

/**
 * Sends a query again and again, and counts responses. A query without a response is sent once more from another port; it is lost when
 * that has none either.
 */
export async function measure(
  port: number,
  query: Buffer,
  durationMs: number,
  { atOnce, pauseMs, from }: LoadOptions = { atOnce: 64, pauseMs: 0, from: '127.0.0.1' },
): Promise<{ readonly answered: number; readonly lost: number }> {
  const end = performance.now() + durationMs;
  let answered = 0;
  let lost = 0;
  const client = async (number: number) => {
    const own = Buffer.from(query);
    own.writeUInt16BE(number, 0);
    let sender = await Sender.open(from);
    while (performance.now() < end) {
      let isAnswered = await sender.asks(own, port);
      if (!isAnswered) {
        // As resolvers do.
        sender.close();
        sender = await Sender.open(from);
        isAnswered = await sender.asks(own, port);
      }
      if (isAnswered) answered++;
      else lost++;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    sender.close();
  };
  await Promise.all(Array.from({ length: atOnce }, (_, number) => client(number)));
  return { answered, lost };
}

/** Sends queries without waiting for responses. */
export async function flood(
  port: number,
  query: Buffer,
  from: string,
  durationMs: number,
): Promise<{ readonly sent: number; readonly answered: number }> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  let sent = 0;
  let answered = 0;
  socket.on('message', () => answered++);
  socket.bind(0, from);
  await once(socket, 'listening');
  const end = performance.now() + durationMs;
  while (performance.now() < end) {
    for (let i = 0; i < 50; i++) {
      sent++;
      socket.send(query, port, '127.0.0.1');
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.close();
  return { sent, answered };
}
