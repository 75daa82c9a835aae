/** Protocols whose frame boundaries can be found without parsing the frames. */
export type FramedProtocol = 'spdy' | 'websocket';

const spdyHeadBytes = 8;
const closeOpcode = 8;

/** The framed protocol that an `Upgrade` field names, if any. */
export function framedProtocol(upgrade: string): FramedProtocol | undefined {
  const name = upgrade.toLowerCase();
  if (name === 'websocket') return 'websocket';
  return /^spdy\/3(?:\.1)?$/.test(name) ? 'spdy' : undefined;
}

/**
 * Tracks the frame boundaries in one direction of a connection, so that a frame may be inserted. It buffers only the
 * head of a frame, and validates nothing.
 */
export class FrameEnds {
  /** The bytes of the current head so far. */
  private readonly head = Buffer.alloc(14);
  private headBytes = 0;
  /** The number of bytes of the frame that are still to come. */
  private left = 0;
  private isClosing = false;

  constructor(readonly protocol: FramedProtocol) {}

  /** Whether the data so far consists of whole frames, and more of them may follow. */
  get isBetween(): boolean {
    return this.left === 0 && this.headBytes === 0 && !this.isClosing;
  }

  pass(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.left > 0) {
        const skipped = Math.min(this.left, chunk.length - at);
        this.left -= skipped;
        at += skipped;
        continue;
      }
      const missing = this.headLength() - this.headBytes;
      const copied = chunk.copy(this.head, this.headBytes, at, at + missing);
      this.headBytes += copied;
      at += copied;
      if (this.headBytes === this.headLength()) this.begin();
    }
  }

  /** The length of the head, as far as it is known: the first two bytes of a WebSocket frame determine it. */
  private headLength(): number {
    if (this.protocol === 'spdy') return spdyHeadBytes;
    if (this.headBytes < 2) return 2;
    const second = this.head[1] as number;
    const lengthBytes = (second & 0x7f) === 127 ? 8 : (second & 0x7f) === 126 ? 2 : 0;
    return 2 + lengthBytes + (second >= 0x80 ? 4 : 0);
  }

  private begin(): void {
    this.headBytes = 0;
    if (this.protocol === 'spdy') {
      this.left = this.head.readUIntBE(5, 3);
      return;
    }
    const short = (this.head[1] as number) & 0x7f;
    if (short < 126) this.left = short;
    else this.left = short === 126 ? this.head.readUInt16BE(2) : Number(this.head.readBigUInt64BE(2));
    if (((this.head[0] as number) & 0x0f) === closeOpcode) this.isClosing = true;
  }
}
