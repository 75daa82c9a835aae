// A program in a network namespace of its own: an endpoint of a service, or a client that keeps connections to one open, makes new
// ones all the time, and sends datagrams. Its argument is its name.
import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { connect, createServer, type Socket } from 'node:net';
import type { TrafficOrder, TrafficReport } from './traffic-client.js';

const [, , name = ''] = process.argv;
const pingMs = 100;
const freshMs = 20;
/** A connection without an answer for so long counts as broken. */
const patienceMs = 2_000;

createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', () => socket.write(`${name}\n`));
}).listen(8080, '::');
const udp = createSocket({ type: 'udp6', ipv6Only: false });
udp.on('message', (_, from) => udp.send(name, from.port, from.address));
udp.bind(8080, '::', () => process.send?.('ready'));

/** A connection that is used all the time. */
class KeptConnection {
  endpoint = '';
  isBroken = false;
  longestMs = 0;
  private askedAt = 0;
  private readonly socket: Socket;
  private readonly timer: NodeJS.Timeout;

  constructor(address: string, port: number, heard: () => void) {
    this.socket = connect({ host: address, port });
    const broken = () => {
      this.isBroken = true;
    };
    this.socket.on('error', broken);
    this.socket.on('close', broken);
    this.socket.on('data', (chunk) => {
      this.longestMs = Math.max(this.longestMs, performance.now() - this.askedAt);
      this.askedAt = 0;
      this.endpoint = chunk.toString().split('\n')[0] ?? '';
      heard();
    });
    this.timer = setInterval(() => this.ping(), pingMs);
    this.ping();
  }

  private ping(): void {
    if (this.askedAt === 0) {
      this.askedAt = performance.now();
      this.socket.write('?');
    } else if (performance.now() - this.askedAt > patienceMs) this.isBroken = true;
  }

  stop(): void {
    clearInterval(this.timer);
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }
}

/** Everything that this client does between `begin` and `end`. */
class Traffic {
  private readonly began = performance.now();
  private readonly kept: KeptConnection[] = [];
  private readonly flows: Datagrams[] = [];
  private readonly timers: NodeJS.Timeout[] = [];
  private asked = 0;
  private failed = 0;
  private lastFailureMs = 0;
  private sent = 0;
  private answered = 0;

  constructor(private readonly order: TrafficOrder) {}

  async begin(): Promise<void> {
    const { address, port, connections, flows } = this.order;
    await Promise.all(
      Array.from(
        { length: connections },
        () => new Promise<void>((heard) => this.kept.push(new KeptConnection(address, port, heard))),
      ),
    );
    for (let i = 0; i < flows; i++) {
      const flow = createSocket('udp4');
      flow.on('error', () => undefined);
      flow.on('message', () => this.answered++);
      this.flows.push(flow);
    }
    this.timers.push(
      setInterval(() => void this.fresh(), freshMs),
      setInterval(() => this.datagrams(), pingMs),
    );
  }

  /** Waits for the answers that are on their way, and ends all. */
  async end(): Promise<TrafficReport> {
    for (const timer of this.timers) clearInterval(timer);
    await new Promise((resolve) => setTimeout(resolve, patienceMs + pingMs * 2));
    const broken: Record<string, number> = {};
    for (const each of this.kept) {
      if (each.isBroken) broken[each.endpoint] = (broken[each.endpoint] ?? 0) + 1;
      each.stop();
    }
    for (const flow of this.flows) flow.close();
    const longestMs = Math.max(...this.kept.filter(({ isBroken }) => !isBroken).map((each) => each.longestMs));
    return {
      kept: this.kept.length,
      broken,
      longestMs,
      fresh: { asked: this.asked, failed: this.failed, lastFailureMs: this.lastFailureMs },
      datagrams: { sent: this.sent, lost: this.sent - this.answered },
    };
  }

  private fresh(): Promise<void> {
    const { address, port } = this.order;
    this.asked++;
    const at = performance.now() - this.began;
    return new Promise((resolve) => {
      const socket = connect({ host: address, port }, () => socket.write('?'));
      const end = (failed: boolean) => {
        clearTimeout(timer);
        if (failed) {
          this.failed++;
          this.lastFailureMs = Math.max(this.lastFailureMs, at);
        }
        socket.destroy();
        resolve();
      };
      const timer = setTimeout(() => end(true), patienceMs);
      socket.once('data', () => end(false));
      socket.on('error', () => end(true));
    });
  }

  private datagrams(): void {
    for (const flow of this.flows) {
      this.sent++;
      flow.send('?', this.order.port, this.order.address);
    }
  }
}

let traffic: Traffic | undefined;
process.on('message', (message: TrafficOrder | 'end') => {
  if (message === 'end') void traffic?.end().then((report) => process.send?.(report));
  else {
    traffic = new Traffic(message);
    void traffic.begin().then(() => process.send?.('begun'));
  }
});
process.on('disconnect', () => process.exit());
