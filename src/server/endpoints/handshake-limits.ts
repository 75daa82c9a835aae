import type { Server, Socket } from 'node:net';
import type { NoteCut } from './connection-cuts.js';

interface Handshake {
  readonly socket: Socket;
  /** How long the server has been there for it, in milliseconds. */
  spentMs: number;
}

/** Times of {@link HandshakeLimits}, in milliseconds. */
export interface HandshakeTimes {
  readonly limitMs: number;
  readonly lookMs: number;
}

/** Those of real clients are faster. */
const usualTimes: HandshakeTimes = { limitMs: 15_000, lookMs: 1_000 };
/** A look that comes later than this many intervals counts as so many: the process stood still meanwhile. */
const mostIntervals = 2;

/**
 * Closes connections whose TLS handshake takes too long. Only time counts in which the event loop ran: a process that
 * was stopped or had no processor finds the bytes of its clients after its timers, and would otherwise close all
 * connections that were made shortly before.
 */
export class HandshakeLimits {
  private readonly handshakes = new Map<string, Handshake>();
  private timer: NodeJS.Timeout | undefined;
  private lookedAt = 0;

  constructor(
    private readonly note: NoteCut,
    private readonly times = usualTimes,
  ) {}

  watch(server: Server): void {
    server.on('secureConnection', (socket: Socket) => this.handshakes.delete(nameOf(socket)));
  }

  /** Must be called when a handshake begins. */
  begun(socket: Socket): void {
    const name = nameOf(socket);
    const handshake = { socket, spentMs: 0 };
    this.handshakes.set(name, handshake);
    socket.once('close', () => {
      if (this.handshakes.get(name) === handshake) this.handshakes.delete(name);
    });
    if (this.timer !== undefined) return;
    this.lookedAt = performance.now();
    this.timer = setInterval(() => this.look(), this.times.lookMs).unref();
  }

  private look(): void {
    const { limitMs, lookMs } = this.times;
    const now = performance.now();
    const passed = Math.min(now - this.lookedAt, lookMs * mostIntervals);
    this.lookedAt = now;
    for (const [name, handshake] of this.handshakes) {
      handshake.spentMs += passed;
      if (handshake.spentMs < limitMs) continue;
      this.handshakes.delete(name);
      this.note('handshake', { client: handshake.socket.remoteAddress });
      handshake.socket.destroy();
    }
    if (this.handshakes.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** No two open connections have the same addresses and ports; the encrypted socket has those of its connection. */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
