import { freeBuffer } from '../machinery/free-buffer.js';

/** What the driver's parser needs of a stream. */
export interface ByteSource {
  on(event: 'data', listener: (bytes: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

/** The code of a message, and its length without the code. */
const headBytes = 5;
/** The length counts itself. */
const leastLength = 4;
/** No message of the server is longer than what PostgreSQL allocates for one value. */
const mostBytes = 2 ** 30;
/** Pieces of a large message are freed from this size on; the others cost less as garbage. */
const leastFreed = 4 * 1024;

/**
 * The same bytes for the driver's parser, divided so that each piece ends with a message. The driver joins the pieces of
 * a message in buffers that it doubles again and again, which leaves memory of several times the message to the garbage
 * collector. Here the message is collected in one buffer of its length, and the memory of pieces and message is freed at
 * once: the parser copies what it needs of a long message before it returns. Pieces are empty after that, so others who
 * listen to the same stream must do so before the driver.
 */
export function wholeMessages(source: ByteSource): ByteSource {
  return {
    on(event: 'data' | 'end', listener: ((bytes: Buffer) => void) | (() => void)): unknown {
      if (event === 'end') return source.on('end', listener as () => void);
      const messages = new Messages(listener as (bytes: Buffer) => void);
      return source.on('data', (bytes) => messages.take(bytes));
    },
  };
}

class Messages {
  /** The beginning of a message whose length is not known yet. */
  private head: Buffer | undefined;
  /** A message of which a part has arrived. */
  private partial: Buffer | undefined;
  private filled = 0;
  /** Whether the bytes are not those of a server: the parser gets them as they come. */
  private isStrange = false;

  constructor(private readonly deliver: (bytes: Buffer) => void) {}

  take(piece: Buffer): void {
    let bytes = piece;
    if (this.head !== undefined) {
      bytes = Buffer.concat([this.head, piece]);
      this.head = undefined;
    }
    const at = this.partial === undefined ? 0 : this.fill(this.partial, bytes);
    if (at < bytes.length) this.divide(at === 0 ? bytes : bytes.subarray(at));
    else freeBuffer(piece, leastFreed);
  }

  /** Returns how many of the bytes belong to the message. */
  private fill(message: Buffer, bytes: Buffer): number {
    const count = bytes.copy(message, this.filled);
    this.filled += count;
    if (this.filled === message.length) {
      this.partial = undefined;
      this.deliver(message);
      freeBuffer(message);
    }
    return count;
  }

  /** Delivers all whole messages, and keeps the rest. */
  private divide(bytes: Buffer): void {
    const end = this.isStrange ? bytes.length : this.endOfWhole(bytes);
    if (end > 0) this.deliver(end === bytes.length ? bytes : bytes.subarray(0, end));
    if (end === bytes.length) return;
    const rest = bytes.subarray(end);
    if (rest.length < headBytes) {
      this.head = Buffer.from(rest);
      return;
    }
    this.partial = Buffer.allocUnsafeSlow(lengthAt(rest, 0));
    this.filled = rest.copy(this.partial);
  }

  /** Where the last whole message ends. */
  private endOfWhole(bytes: Buffer): number {
    let at = 0;
    while (at + headBytes <= bytes.length) {
      const length = lengthAt(bytes, at);
      if (length < 1 + leastLength || length > mostBytes) {
        this.isStrange = true;
        return bytes.length;
      }
      if (at + length > bytes.length) break;
      at += length;
    }
    return at;
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  return 1 + bytes.readUInt32BE(at + 1);
}
