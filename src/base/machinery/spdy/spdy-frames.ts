import { SpdyError } from './spdy-error.js';
/** A frame from the other side of a connection. Frames that need no reaction are left out. */
export type SpdyEvent =
  /** A piece of a stream's data. `isLast`: the sender sends nothing more on the stream. */
  | { readonly type: 'data'; readonly stream: number; readonly bytes: Buffer; readonly isLast: boolean }
  | { readonly type: 'open'; readonly stream: number; readonly headers: Buffer; readonly isLast: boolean }
  | { readonly type: 'reply'; readonly stream: number; readonly isLast: boolean }
  | { readonly type: 'reset'; readonly stream: number }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goaway' };

const version = 3;
const fin = 1;
const headBytes = 8;
/** No known peer sends longer control frames. Stream data is passed on in pieces of any length. */
const maxControlBytes = 64 * 1024;
const kinds = { open: 1, reply: 2, reset: 3, ping: 6, goaway: 7 } as const;
const nothing = Buffer.alloc(0);

/**
 * Parses a connection (SPDY/3.1 without its flow control, as node agents and their clients use it). It buffers no more
 * than one control frame.
 */
export class SpdyReader {
  /** The incomplete control frame or frame head received so far. */
  private held: Buffer = nothing;
  /** The data frame that is being read. */
  private data: { readonly stream: number; left: number; readonly isLast: boolean } | undefined;

  /** @throws SpdyError */
  *read(chunk: Buffer): Generator<SpdyEvent, void, undefined> {
    let bytes = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    this.held = nothing;
    for (;;) {
      const { data } = this;
      if (data !== undefined) {
        const piece = bytes.subarray(0, data.left);
        bytes = bytes.subarray(piece.length);
        data.left -= piece.length;
        const isDone = data.left === 0;
        if (isDone) this.data = undefined;
        const isLast = isDone && data.isLast;
        if (piece.length > 0 || isLast) yield { type: 'data', stream: data.stream, bytes: piece, isLast };
        if (!isDone) return;
        continue;
      }
      if (bytes.length < headBytes) break;
      const first = bytes.readUInt32BE(0);
      const flags = bytes[4] as number;
      const length = bytes.readUIntBE(5, 3);
      if (first >>> 31 === 0) {
        this.data = { stream: first, left: length, isLast: (flags & fin) !== 0 };
        bytes = bytes.subarray(headBytes);
        continue;
      }
      if (((first >>> 16) & 0x7fff) !== version) throw new SpdyError('another version of the protocol');
      if (length > maxControlBytes) throw new SpdyError('a frame is too long');
      if (bytes.length < headBytes + length) break;
      const event = eventOf(first & 0xffff, flags, bytes.subarray(headBytes, headBytes + length));
      bytes = bytes.subarray(headBytes + length);
      if (event !== undefined) yield event;
    }
    // A copy: the chunk may be part of something much larger.
    this.held = Buffer.from(bytes);
  }
}

function eventOf(kind: number, flags: number, body: Buffer): SpdyEvent | undefined {
  const number = (at: number) => {
    if (body.length < at + 4) throw new SpdyError('a frame is too short');
    return body.readUInt32BE(at);
  };
  const isLast = (flags & fin) !== 0;
  switch (kind) {
    case kinds.open:
      number(4);
      return { type: 'open', stream: number(0) & 0x7fffffff, headers: Buffer.from(body.subarray(10)), isLast };
    case kinds.reply:
      return { type: 'reply', stream: number(0) & 0x7fffffff, isLast };
    case kinds.reset:
      return { type: 'reset', stream: number(0) & 0x7fffffff };
    case kinds.ping:
      return { type: 'ping', id: number(0) };
    case kinds.goaway:
      return { type: 'goaway' };
    default:
      return undefined;
  }
}

/** Opens a stream. Streams opened by clients have odd numbers, in ascending order. */
export function openFrame(stream: number, headers: Buffer): Buffer {
  return control(kinds.open, [stream, 0], Buffer.concat([Buffer.alloc(2), headers]));
}

/** Accepts a stream. */
export function replyFrame(stream: number, headers: Buffer): Buffer {
  return control(kinds.reply, [stream], headers);
}

/** Resets a stream: closes it at once, in both directions. */
export function resetFrame(stream: number): Buffer {
  const cancel = 5;
  return control(kinds.reset, [stream, cancel]);
}

/** A ping, or the reply to one, which has the same id. */
export function pingFrame(id: number): Buffer {
  return control(kinds.ping, [id]);
}

/** The head of a piece of a stream. The piece, which must be shorter than 16 MiB, follows the head. */
export function dataHead(stream: number, length: number, isLast: boolean): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(stream & 0x7fffffff, 0);
  head[4] = isLast ? fin : 0;
  head.writeUIntBE(length, 5, 3);
  return head;
}

function control(kind: number, numbers: readonly number[], rest: Buffer = nothing): Buffer {
  const frame = Buffer.alloc(headBytes + 4 * numbers.length);
  frame.writeUInt16BE(0x8000 | version, 0);
  frame.writeUInt16BE(kind, 2);
  frame.writeUIntBE(4 * numbers.length + rest.length, 5, 3);
  for (const [i, value] of numbers.entries()) frame.writeUInt32BE(value >>> 0, headBytes + 4 * i);
  return Buffer.concat([frame, rest]);
}
