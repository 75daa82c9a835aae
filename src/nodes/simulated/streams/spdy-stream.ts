import { Duplex } from 'node:stream';

/** One stream that a client has begun. Reading ends when the client ends the stream; ending it ends this side. */
export class SpdyStream extends Duplex {
  private wake: (() => void) | undefined;

  constructor(
    readonly headers: ReadonlyMap<string, string>,
    private readonly sendPiece: (bytes: Buffer, isLast: boolean) => Promise<void>,
  ) {
    super({ allowHalfOpen: true });
  }

  /** Resolves when the reader takes more. */
  async receive(bytes: Buffer): Promise<void> {
    if (this.destroyed || bytes.length === 0 || this.push(bytes)) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      this.once('close', resolve);
    });
  }

  override _read(): void {
    this.wake?.();
    this.wake = undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.sendPiece(chunk, false).then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    this.sendPiece(Buffer.alloc(0), true).then(() => done(), done);
  }
}
