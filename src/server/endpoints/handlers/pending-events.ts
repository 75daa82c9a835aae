import { type AnswerBlocks, answerBlocks, blockBytes } from '../negotiation/answer-blocks.js';

/** Bytes in front of the events of a piece, for the head of a chunk: its length in hexadecimal and a line break. */
const headRoom = 10;
/** Bytes behind them, for the line break that ends a chunk. */
const tailRoom = 2;
const mostInBlock = blockBytes - headRoom - tailRoom;

/** Whole events in a row, with room around them that makes them a chunk without another copy. */
export class EventPiece {
  constructor(
    private readonly source: Buffer,
    private readonly end: number,
  ) {}

  get length(): number {
    return this.end - headRoom;
  }

  plain(): Buffer {
    return this.source.subarray(headRoom, this.end);
  }

  /** The events as one chunk of the transfer coding (RFC 9112 section 7.1). */
  chunk(): Buffer {
    const { source, end } = this;
    const head = `${this.length.toString(16)}\r\n`;
    const start = headRoom - head.length;
    source.write(head, start, 'latin1');
    source.write('\r\n', end, 'latin1');
    return source.subarray(start, end + tailRoom);
  }
}

/**
 * Events that wait to be written, copied into {@link AnswerBlocks}. The code that writes a piece returns its block once
 * the piece was sent.
 */
export class PendingEvents {
  private readonly whole: EventPiece[] = [];
  private source: Buffer | undefined;
  private end = headRoom;
  private wholeBytes = 0;
  /** The latest result of {@link allocate}, until it is pushed. */
  private room: Buffer | undefined;

  constructor(private readonly blocks: AnswerBlocks = answerBlocks) {}

  /** Length of all events, in bytes. */
  get length(): number {
    return this.wholeBytes + (this.end - headRoom);
  }

  /** Room for the next event, in which it can be made. It counts once it is pushed, and is overwritten otherwise. */
  allocate(bytes: number): Buffer {
    if (this.source === undefined || this.end + bytes + tailRoom > this.source.length) this.begin(bytes);
    this.room = (this.source as Buffer).subarray(this.end, this.end + bytes);
    return this.room;
  }

  push(bytes: Buffer): void {
    if (bytes !== this.room) this.allocate(bytes.length).set(bytes);
    this.room = undefined;
    this.end += bytes.length;
  }

  /** Adds an event; returns its length in bytes. */
  pushText(text: string): number {
    const left = this.source === undefined ? mostInBlock : this.source.length - this.end - tailRoom;
    // A character takes at most three bytes in UTF-8.
    const bytes = text.length * 3 <= left ? text.length : Buffer.byteLength(text);
    if (this.source === undefined || bytes > left) this.begin(bytes);
    const written = (this.source as Buffer).write(text, this.end);
    this.end += written;
    return written;
  }

  /** All events so far, in order; they are no longer pending. */
  take(): EventPiece[] {
    this.complete();
    this.wholeBytes = 0;
    return this.whole.splice(0);
  }

  /** Begins a piece in which an event of this length fits. */
  private begin(bytes: number): void {
    this.complete();
    this.source = bytes <= mostInBlock ? this.blocks.take() : Buffer.allocUnsafeSlow(bytes + headRoom + tailRoom);
  }

  private complete(): void {
    const { source, end } = this;
    this.room = undefined;
    this.source = undefined;
    this.end = headRoom;
    if (source === undefined || end === headRoom) return;
    this.wholeBytes += end - headRoom;
    this.whole.push(new EventPiece(source, end));
  }
}
