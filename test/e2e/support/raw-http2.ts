import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const headBytes = 9;
const frameTypes = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const endStream = 1;
const endHeaders = 4;
const acknowledgement = 1;
const initialWindowSize = 4;
/** The number of bytes that may be sent on a connection at first (RFC 9113 section 6.9.2). */
export const connectionWindow = 65_535;

/** The answer on one stream; its head is not read. */
export class RawAnswer {
  readonly chunks: Buffer[] = [];
  length = 0;
  /** Whether the header of the answer has arrived, which no window delays. */
  hasHead = false;
  /** How the stream ended; undefined while it is open. */
  end: 'complete' | 'reset' | 'connection lost' | undefined;
  /** Called for each piece of the body, and at its end. */
  onChange: () => void = () => undefined;

  constructor(readonly stream: number) {}

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  ended(): Promise<this> {
    return this.until(() => this.end !== undefined);
  }

  async until(isSo: () => boolean): Promise<this> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.onChange = resolve;
      });
    }
    return this;
  }
}

/** An HTTP/2 connection on which the caller sends each frame. */
export class RawHttp2 {
  readonly answers = new Map<number, RawAnswer>();
  /** Streams that the server has reset, including resets after their answers. */
  readonly resets = new Set<number>();
  private readonly pongs: (() => void)[] = [];
  private nextStream = 1;
  private left: Buffer = Buffer.alloc(0);

  private constructor(
    readonly socket: TLSSocket,
    private readonly token: string,
    /** Whether the connection's window is widened by every byte that arrives. */
    private readonly readsConnection: boolean,
  ) {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      for (const answer of this.answers.values()) this.settle(answer, 'connection lost');
    });
  }

  /** @param streamWindow how many bytes the server may send on each stream at first */
  static async connect(
    url: string,
    ca: string,
    token: string,
    { streamWindow = 2 ** 30, readsConnection = true } = {},
  ): Promise<RawHttp2> {
    const socket = connectTls({ port: Number(new URL(url).port), ca, ALPNProtocols: ['h2'] });
    const connection = new RawHttp2(socket, token, readsConnection);
    await once(socket, 'secureConnect');
    socket.write(preface);
    connection.setStreamWindow(streamWindow);
    return connection;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): RawAnswer {
    return this.request('GET', path, headers, endStream);
  }

  /** Sends a body of at most 16 KiB, or the beginning of one. */
  post(path: string, headers: Readonly<Record<string, string>>, body: string, isAll = true): RawAnswer {
    const answer = this.request('POST', path, headers, 0);
    this.send(frameTypes.data, isAll ? endStream : 0, answer.stream, Buffer.from(body));
    return answer;
  }

  /** Sends more of a body without regard to the windows. */
  sendBody(stream: number, piece: string): void {
    this.send(frameTypes.data, 0, stream, Buffer.from(piece));
  }

  /** Resolves when the server has received everything sent before. */
  pong(): Promise<void> {
    this.send(frameTypes.ping, 0, 0, Buffer.alloc(8));
    return new Promise((resolve) => this.pongs.push(resolve));
  }

  setStreamWindow(bytes: number): void {
    const setting = Buffer.alloc(6);
    setting.writeUInt16BE(initialWindowSize, 0);
    setting.writeUInt32BE(bytes, 2);
    this.send(frameTypes.settings, 0, 0, setting);
  }

  /** Widens the window of a stream; stream 0 is the connection. */
  widen(stream: number, bytes: number): void {
    this.send(frameTypes.windowUpdate, 0, stream, uint32(bytes));
  }

  /** Resets a stream; its answer is no longer tracked. */
  reset(stream: number, code: number): void {
    this.answers.delete(stream);
    this.send(frameTypes.reset, 0, stream, uint32(code));
  }

  close(): void {
    this.socket.destroy();
  }

  private request(method: string, path: string, headers: Readonly<Record<string, string>>, flags: number): RawAnswer {
    const stream = this.nextStream;
    this.nextStream += 2;
    const fields = {
      ':method': method,
      ':scheme': 'https',
      ':authority': 'plinth',
      ':path': path,
      authorization: `Bearer ${this.token}`,
      ...headers,
    };
    const answer = new RawAnswer(stream);
    this.answers.set(stream, answer);
    const head = Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [literal(name, value)]));
    this.send(frameTypes.headers, flags | endHeaders, stream, head);
    return answer;
  }

  private send(type: number, flags: number, stream: number, payload: Buffer): void {
    const head = Buffer.alloc(headBytes);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    if (!this.socket.destroyed) this.socket.write(Buffer.concat([head, payload]));
  }

  private receive(chunk: Buffer): void {
    this.left = this.left.length === 0 ? chunk : Buffer.concat([this.left, chunk]);
    while (this.left.length >= headBytes) {
      const end = headBytes + this.left.readUIntBE(0, 3);
      if (this.left.length < end) return;
      const frame = this.left.subarray(0, end);
      this.left = this.left.subarray(end);
      this.take(frame[3] as number, frame[4] as number, frame.readUInt32BE(5), frame.subarray(headBytes));
    }
  }

  private take(type: number, flags: number, stream: number, payload: Buffer): void {
    const answer = this.answers.get(stream);
    switch (type) {
      case frameTypes.settings:
        if ((flags & acknowledgement) === 0) this.send(type, acknowledgement, 0, Buffer.alloc(0));
        return;
      case frameTypes.ping:
        if ((flags & acknowledgement) === 0) this.send(type, acknowledgement, 0, payload);
        else this.pongs.shift()?.();
        return;
      case frameTypes.reset:
        this.resets.add(stream);
        if (answer !== undefined) this.settle(answer, 'reset');
        return;
      case frameTypes.headers:
      case frameTypes.data:
        if (type === frameTypes.data) {
          if (this.readsConnection && payload.length > 0) this.widen(0, payload.length);
          answer?.chunks.push(payload);
          if (answer !== undefined) answer.length += payload.length;
        }
        if (answer === undefined) return;
        answer.hasHead = true;
        if ((flags & endStream) !== 0) this.settle(answer, 'complete');
        else answer.onChange();
    }
  }

  private settle(answer: RawAnswer, end: NonNullable<RawAnswer['end']>): void {
    this.answers.delete(answer.stream);
    answer.end = end;
    answer.onChange();
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header field that is in no table (RFC 7541 section 6.2.2). */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), hpackString(name), hpackString(value)]);
}

function hpackString(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}
