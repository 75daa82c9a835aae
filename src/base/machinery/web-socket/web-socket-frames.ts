import { createHash } from 'node:crypto';
import { WebSocketError } from './web-socket-error.js';
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** What a client sends. */
export type WebSocketEvent =
  /** A piece of a message; `isFirst` and `isLast` mark where the message begins and ends. */
  | {
      readonly type: 'data';
      readonly bytes: Buffer;
      readonly isText: boolean;
      readonly isFirst: boolean;
      readonly isLast: boolean;
    }
  | { readonly type: 'ping'; readonly bytes: Buffer }
  | { readonly type: 'close' };

const acceptKey = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const maxControlBytes = 125;
const maskBytes = 4;
const nothing = Buffer.alloc(0);

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly mask: Buffer;
  /** Position within the mask. */
  at: number;
  left: number;
}

/**
 * Parses what a WebSocket client sends. Messages are passed on in pieces as they arrive and are never collected, so a
 * long message takes no memory.
 */
export class WebSocketReader {
  private held: Buffer = nothing;
  private frame: Frame | undefined;
  private message: { readonly isText: boolean; isFirst: boolean } | undefined;

  /** The bytes of the chunk are changed in place. @throws WebSocketError */
  *read(chunk: Buffer): Generator<WebSocketEvent, void, undefined> {
    let bytes = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    this.held = nothing;
    for (;;) {
      if (this.frame === undefined) {
        const length = headLength(bytes);
        if (length === undefined || bytes.length < length) break;
        this.frame = this.frameFrom(bytes, length);
        bytes = bytes.subarray(length);
      }
      const { frame } = this;
      if (frame.opcode >= opcodes.close) {
        if (bytes.length < frame.left) break;
        const body = unmasked(frame, bytes.subarray(0, frame.left));
        bytes = bytes.subarray(body.length);
        this.frame = undefined;
        if (frame.opcode === opcodes.ping) yield { type: 'ping', bytes: Buffer.from(body) };
        else if (frame.opcode === opcodes.close) {
          yield { type: 'close' };
          return;
        }
        continue;
      }
      const piece = unmasked(frame, bytes.subarray(0, frame.left));
      bytes = bytes.subarray(piece.length);
      const isEnd = frame.left === 0;
      if (isEnd) this.frame = undefined;
      const event = this.piece(piece, isEnd && frame.isFinal);
      if (event !== undefined) yield event;
      if (!isEnd) return;
    }
    this.held = Buffer.from(bytes);
  }

  private piece(bytes: Buffer, isLast: boolean): WebSocketEvent | undefined {
    const { message } = this;
    if (message === undefined) throw new WebSocketError('a piece without a message');
    if (bytes.length === 0 && !isLast) return undefined;
    const { isText, isFirst } = message;
    message.isFirst = false;
    if (isLast) this.message = undefined;
    return { type: 'data', bytes, isText, isFirst, isLast };
  }

  private frameFrom(bytes: Buffer, length: number): Frame {
    const [first = 0, second = 0] = bytes;
    const opcode = first & 0x0f;
    const isFinal = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw new WebSocketError('an extension that was not agreed on');
    if ((second & 0x80) === 0) throw new WebSocketError('a frame of a client without a mask');
    const short = second & 0x7f;
    const left = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : longLength(bytes);
    const isControl = opcode >= opcodes.close;
    if (isControl && (!isFinal || left > maxControlBytes)) throw new WebSocketError('a long control frame');
    if (opcode === opcodes.text || opcode === opcodes.binary) {
      if (this.message !== undefined) throw new WebSocketError('a message within a message');
      this.message = { isText: opcode === opcodes.text, isFirst: true };
    } else if (opcode === opcodes.continuation) {
      if (this.message === undefined) throw new WebSocketError('nothing to continue');
    } else if (opcode > opcodes.pong || !isControl) throw new WebSocketError('an unknown kind of frame');
    const mask = Buffer.from(bytes.subarray(length - maskBytes, length));
    return { opcode, isFinal, mask, at: 0, left };
  }
}

function headLength(bytes: Buffer): number | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] as number) & 0x7f;
  const masked = ((bytes[1] as number) & 0x80) === 0 ? 0 : maskBytes;
  return 2 + (short < 126 ? 0 : short === 126 ? 2 : 8) + masked;
}

function longLength(bytes: Buffer): number {
  const length = bytes.readBigUInt64BE(2);
  if (length > BigInt(Number.MAX_SAFE_INTEGER)) throw new WebSocketError('a frame is too long');
  return Number(length);
}

function unmasked(frame: Frame, bytes: Buffer): Buffer {
  const { mask } = frame;
  let { at } = frame;
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = (bytes[i] as number) ^ (mask[at] as number);
    at = (at + 1) & 3;
  }
  frame.at = at;
  frame.left -= bytes.length;
  return bytes;
}

/** The head of a message that a server sends in one frame; the message follows. */
export function frameHead(opcode: number, length: number): Buffer {
  const size = length < 126 ? 2 : length < 0x10000 ? 4 : 10;
  const head = Buffer.alloc(size);
  head[0] = 0x80 | opcode;
  head[1] = size === 2 ? length : size === 4 ? 126 : 127;
  if (size === 4) head.writeUInt16BE(length, 2);
  else if (size === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** A closing frame with its reason, cut to the length that fits. */
export function closeFrame(code: number, reason: string): Buffer {
  let text = Buffer.from(reason, 'utf8');
  if (text.length > maxControlBytes - 2)
    text = Buffer.from(
      text
        .subarray(0, maxControlBytes - 2)
        .toString('latin1')
        .replace(/[^\x20-\x7e]/g, '?'),
    );
  const body = Buffer.alloc(2 + text.length);
  body.writeUInt16BE(code);
  text.copy(body, 2);
  return Buffer.concat([frameHead(opcodes.close, body.length), body]);
}

/** The value of `Sec-WebSocket-Accept` for a key (RFC 6455 section 4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${acceptKey}`).digest('base64');
}
