import type { Server, Socket } from 'node:net';
import { PartyQueue } from '../../base/machinery/party-queue.js';

/** Handshakes per turn of the event loop; each takes up to a millisecond of CPU time. */
const perTurn = 4;

type Begin = (socket: Socket) => void;

/**
 * Begins only a few TLS handshakes in each turn of the event loop, so that a burst of new connections doesn't delay the
 * requests of others. Waiting connections are begun in the order of arrival, with client addresses taking turns.
 */
export class PacedHandshakes {
  private readonly waiting = new PartyQueue<Socket>();
  /** Handshakes begun in this turn of the event loop. */
  private begun = 0;
  private isTurnCounted = false;

  private constructor(
    private readonly server: Server,
    private readonly begin: Begin,
    private readonly onBegin: Begin,
  ) {}

  /**
   * Intercepts new connections of a TLS server before it listens, by replacing the server's own `connection` listener.
   * Other listeners are not affected; those that close connections must be added before this call.
   *
   * @param onBegin called for each connection whose handshake begins
   */
  static watch(server: Server, onBegin: Begin = () => undefined): PacedHandshakes {
    const [begin] = server.listeners('connection') as Begin[];
    if (begin === undefined) throw new Error('the server does not accept connections');
    const paced = new PacedHandshakes(server, begin, onBegin);
    server.off('connection', begin);
    server.on('connection', (socket: Socket) => paced.add(socket));
    return paced;
  }

  /** Number of connections whose handshake has not begun. */
  get size(): number {
    return this.waiting.size;
  }

  private add(socket: Socket): void {
    if (socket.destroyed) return;
    this.countTurn();
    if (this.waiting.size > 0 || this.begun >= perTurn) this.wait(socket);
    else this.beginNow(socket);
  }

  private wait(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    // Without a listener, a client that resets its connection while it waits would end the process.
    socket.on('error', () => undefined);
    socket.once('close', () => this.waiting.remove(address, socket));
    this.waiting.add(address, socket);
  }

  private beginNow(socket: Socket): void {
    this.begun += 1;
    this.onBegin(socket);
    this.begin.call(this.server, socket);
  }

  private countTurn(): void {
    if (this.isTurnCounted) return;
    this.isTurnCounted = true;
    setImmediate(() => {
      this.isTurnCounted = false;
      this.begun = 0;
      while (this.begun < perTurn) {
        const next = this.waiting.take();
        if (next === undefined) return;
        this.beginNow(next.item);
      }
      this.countTurn();
    });
  }
}
