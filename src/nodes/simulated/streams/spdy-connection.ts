import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { dataHead, pingFrame, replyFrame, resetFrame, SpdyReader } from '../../../base/machinery/spdy/spdy-frames.js';
import { SpdyHeaderReader } from '../../../base/machinery/spdy/spdy-header-reader.js';
import { SpdyHeaderWriter } from '../../../base/machinery/spdy/spdy-header-writer.js';
import { writeFully } from '../../../base/machinery/web-socket/write-fully.js';
import { SpdyStream } from './spdy-stream.js';

/** The most streams open at a time; further ones are refused. */
const maxStreams = 1000;

/** The serving side of a connection of SPDY/3.1, as node agents speak it. */
export class SpdyConnection {
  private readonly streams = new Map<number, SpdyStream>();
  private readonly headers = new SpdyHeaderWriter();

  /** @param onStream called for each stream that the client begins */
  constructor(
    private readonly socket: Duplex,
    private readonly onStream: (stream: SpdyStream) => void,
  ) {
    socket.on('error', () => socket.destroy());
  }

  /** Reads until the client leaves or breaks the rules. Never throws. */
  async run(head: Buffer): Promise<void> {
    const reader = new SpdyReader();
    const headers = new SpdyHeaderReader();
    try {
      await this.take(reader, headers, head);
      for await (const chunk of this.socket) await this.take(reader, headers, chunk as Buffer);
    } catch {
      // A client that breaks the rules is disconnected.
    } finally {
      headers.stop();
      this.socket.destroy();
      for (const stream of this.streams.values()) stream.destroy();
    }
  }

  /** Ends the connection once all that was written has gone. */
  async end(): Promise<void> {
    const { socket } = this;
    if (socket.destroyed) return;
    const closed = once(socket, 'close').catch(() => undefined);
    socket.end();
    await closed;
  }

  private async take(reader: SpdyReader, headers: SpdyHeaderReader, chunk: Buffer): Promise<void> {
    for (const event of reader.read(chunk)) {
      const stream = 'stream' in event ? this.streams.get(event.stream) : undefined;
      switch (event.type) {
        case 'open':
          await this.open(event.stream, await headers.read(event.headers), event.isLast);
          break;
        case 'data':
          await stream?.receive(event.bytes);
          if (event.isLast) stream?.push(null);
          break;
        case 'reset':
          stream?.destroy();
          break;
        case 'ping':
          if (event.id % 2 === 1) await writeFully(this.socket, [pingFrame(event.id)]);
          break;
        case 'goaway':
        case 'reply':
          break;
      }
    }
  }

  private async open(id: number, headers: ReadonlyMap<string, string>, isLast: boolean): Promise<void> {
    if (this.streams.has(id) || this.streams.size >= maxStreams) {
      await writeFully(this.socket, [resetFrame(id)]);
      return;
    }
    const send = (bytes: Buffer, isEnd: boolean) => writeFully(this.socket, [dataHead(id, bytes.length, isEnd), bytes]);
    const stream = new SpdyStream(headers, send);
    stream.on('error', () => undefined);
    stream.once('close', () => this.streams.delete(id));
    this.streams.set(id, stream);
    await writeFully(this.socket, [replyFrame(id, this.headers.write({}))]);
    if (isLast) stream.push(null);
    this.onStream(stream);
  }
}
