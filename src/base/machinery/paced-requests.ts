import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { PartyQueue } from './party-queue.js';

/** Requests per turn of the event loop; each takes up to a millisecond of CPU time. */
const perTurn = 32;
/** A turn begins no further request after this time. */
const turnMs = 5;

type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;
type Begin = (request: AnyRequest, response: AnyResponse) => void;

interface Waiting {
  readonly connection: object;
  readonly begin: () => void;
  readonly isCancelled: () => boolean;
}

/**
 * Begins only some requests in each turn of the event loop. One read from a connection can bring more than a thousand,
 * each cancelled by the bytes behind it, and the limits of HTTP/2 are only applied after the whole read. A request that is
 * cancelled while it waits costs nothing more. Waiting requests of a connection are begun in the order of arrival, with
 * connections taking turns.
 */
export class PacedRequests {
  private readonly waiting = new PartyQueue<Waiting>();
  private readonly names = new WeakMap<object, string>();
  private connections = 0;
  /** Requests begun in this turn of the event loop. */
  private begun = 0;
  private turnEnd = 0;
  private isTurnCounted = false;

  /** Intercepts the requests of a server before it listens, by replacing its only `request` listener. */
  static watch(server: Server | Http2SecureServer): PacedRequests {
    const [begin, ...others] = server.listeners('request') as Begin[];
    if (begin === undefined || others.length > 0) throw new Error('the server has no single listener for requests');
    const paced = new PacedRequests();
    server.off('request', begin);
    server.on('request', (request: AnyRequest, response: AnyResponse) => {
      if (paced.isFree()) begin.call(server, request, response);
      else
        paced.add({
          connection: connectionOf(request, response),
          begin: () => begin.call(server, request, response),
          isCancelled: () => isCancelled(request, response),
        });
    });
    return paced;
  }

  /** Number of requests that have not begun. */
  get size(): number {
    return this.waiting.size;
  }

  /** Begins a request of a connection now or in a later turn; never if it is cancelled while it waits. */
  add(added: Waiting): void {
    if (this.isFree()) added.begin();
    else this.waiting.add(this.nameOf(added.connection), added);
  }

  /** Whether a request may begin at once; counts one that does. */
  private isFree(): boolean {
    this.countTurn();
    if (this.waiting.size > 0 || this.begun >= perTurn) return false;
    // The first one of a turn needs no look at the clock.
    if (this.begun > 0 && performance.now() >= this.turnEnd) return false;
    this.begun += 1;
    return true;
  }

  private countTurn(): void {
    if (this.isTurnCounted) return;
    this.isTurnCounted = true;
    this.turnEnd = performance.now() + turnMs;
    setImmediate(this.nextTurn);
  }

  private readonly nextTurn = (): void => {
    this.isTurnCounted = false;
    this.begun = 0;
    if (this.waiting.size === 0) return;
    this.countTurn();
    while (this.begun < perTurn && performance.now() < this.turnEnd) {
      const next = this.waiting.take();
      if (next === undefined) return;
      if (next.item.isCancelled()) continue;
      this.begun += 1;
      next.item.begin();
    }
  };

  private nameOf(connection: object): string {
    let name = this.names.get(connection);
    if (name === undefined) {
      this.connections += 1;
      name = String(this.connections);
      this.names.set(connection, name);
    }
    return name;
  }
}

function connectionOf(request: AnyRequest, response: AnyResponse): object {
  return 'stream' in response ? (response.stream?.session ?? response) : request.socket;
}

/** A client that has sent its whole HTTP/2 request has not closed its stream: the response is still missing. */
function isCancelled(request: AnyRequest, response: AnyResponse): boolean {
  if (!('stream' in response)) return request.socket.destroyed;
  const { stream } = response;
  return stream === undefined || stream.destroyed || stream.closed;
}
