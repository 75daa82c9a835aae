import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

/** An answer; the text is empty if the caller does not need it. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Exchange {
  readonly request: string;
  readonly settle: (answer: Answer | Error) => void;
  /** Whether a server that closed an idle connection has lost it once. */
  isRepeated?: boolean;
}

const maxHeadBytes = 16_384;

/**
 * Connections of HTTP/1.1, each with one request under way. Much cheaper than the client of the runtime, so that the load
 * takes little of the processors that it shares with the server.
 */
export class Connections {
  private readonly idle: Connection[] = [];
  private readonly all: Connection[] = [];
  private readonly waiting: Exchange[] = [];
  private readonly head: string;

  private constructor(
    private readonly url: URL,
    token: string,
  ) {
    this.head = `HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${token}\r\naccept: application/json\r\nuser-agent: fleet\r\n`;
  }

  static async open(address: string, token: string, count: number): Promise<Connections> {
    const made = new Connections(new URL(address), token);
    await Promise.all(Array.from({ length: count }, () => made.add()));
    return made;
  }

  /** Requests that wait for a connection. */
  get queued(): number {
    return this.waiting.length;
  }

  send(method: string, path: string, body = '', type = 'application/json'): Promise<Answer> {
    const content =
      body === '' ? '\r\n' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const request = `${method} ${path} ${this.head}${content}`;
    return new Promise((resolve, reject) => {
      const settle = (answer: Answer | Error) => (answer instanceof Error ? reject(answer) : resolve(answer));
      this.start({ request, settle });
    });
  }

  private start(exchange: Exchange): void {
    let free = this.idle.pop();
    while (free?.isClosed === true) {
      // Servers close connections that were idle for long.
      void this.add().catch(() => undefined);
      free = this.idle.pop();
    }
    if (free === undefined) this.waiting.push(exchange);
    else free.run(exchange);
  }

  /** Opens a watch on a connection of its own and calls back with the number of bytes of each piece. */
  async watch(path: string, onBytes: (bytes: number) => void): Promise<void> {
    const connection = await this.connection();
    connection.watch(`GET ${path} ${this.head}\r\n`, onBytes);
  }

  close(): void {
    for (const connection of this.all) connection.close();
  }

  private async add(): Promise<void> {
    this.free(await this.connection());
  }

  private free(connection: Connection): void {
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(connection);
    else connection.run(next);
  }

  private lost(exchange: Exchange): void {
    if (exchange.isRepeated === true) {
      exchange.settle(new Error('the server closed the connection'));
      return;
    }
    exchange.isRepeated = true;
    void this.add().catch(() => undefined);
    this.start(exchange);
  }

  private async connection(): Promise<Connection> {
    const socket = connect({ host: this.url.hostname, port: Number(this.url.port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.setNoDelay();
    const connection: Connection = new Connection(
      socket,
      () => this.free(connection),
      (exchange) => this.lost(exchange),
    );
    this.all.push(connection);
    return connection;
  }
}

class Connection {
  private current: Exchange | undefined;
  private parts: Buffer[] = [];
  private bytes = 0;
  isClosed = false;
  private onBytes: ((bytes: number) => void) | undefined;

  constructor(
    private readonly socket: TLSSocket,
    private readonly onFree: () => void,
    private readonly onLost: (exchange: Exchange) => void,
  ) {
    socket.on('data', (data: Buffer) => this.receive(data));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      const { current } = this;
      this.isClosed = true;
      this.current = undefined;
      if (current !== undefined) this.onLost(current);
    });
  }

  run(exchange: Exchange): void {
    this.current = exchange;
    this.socket.write(exchange.request);
  }

  watch(request: string, onBytes: (bytes: number) => void): void {
    this.onBytes = onBytes;
    this.socket.write(request);
  }

  close(): void {
    this.current = undefined;
    this.socket.destroy();
  }

  private receive(data: Buffer): void {
    if (this.onBytes !== undefined) {
      this.onBytes(data.length);
      return;
    }
    this.parts.push(data);
    this.bytes += data.length;
    const whole = this.parts.length === 1 ? data : Buffer.concat(this.parts);
    const end = whole.indexOf('\r\n\r\n');
    if (end < 0) {
      if (whole.length > maxHeadBytes) this.socket.destroy();
      return;
    }
    const head = whole.toString('latin1', 0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    const isWhole =
      length === undefined
        ? whole.subarray(-5).toString('latin1') === '0\r\n\r\n'
        : whole.length >= end + 4 + Number(length);
    if (!isWhole) return;
    const { current } = this;
    this.parts = [];
    this.bytes = 0;
    this.current = undefined;
    const text = length === undefined ? '' : whole.toString('utf8', end + 4);
    this.onFree();
    current?.settle({ status: Number(head.slice(9, 12)), text });
  }
}
