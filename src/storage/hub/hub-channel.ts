import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

const headBytes = 4;

/** An encoded message; it may be sent over any number of channels. */
export type Frame = Buffer;

export function frameOf(messages: readonly unknown[]): Frame {
  const content = serialize(messages);
  const frame = Buffer.allocUnsafe(headBytes + content.length);
  frame.writeUInt32BE(content.length, 0);
  content.copy(frame, headBytes);
  return frame;
}

/**
 * Sends messages between two processes of one machine, in order. Messages of one turn of the event loop are sent
 * together. Both ends belong to the same program, and no other program has access to the stream.
 */
export class HubChannel<Sent, Received> {
  private messages: Sent[] = [];
  private frames: Frame[] = [];
  private isScheduled = false;
  private parts: Buffer[] = [];
  private received = 0;
  private wanted: number | undefined;

  constructor(
    private readonly stream: Socket,
    private readonly onMessage: (message: Received) => void,
    onClose: () => void,
  ) {
    stream.on('data', (chunk: Buffer) => this.receive(chunk));
    // The 'close' event reports that the stream has ended, whatever the reason.
    stream.on('error', () => undefined);
    stream.once('close', onClose);
  }

  /** Bytes that the other process has not read yet. */
  get unsentBytes(): number {
    return this.stream.writableLength;
  }

  send(message: Sent): void {
    this.messages.push(message);
    this.schedule();
  }

  /** Sends a frame after everything that was sent before. */
  sendFrame(frame: Frame): void {
    this.closeFrame();
    this.frames.push(frame);
    this.schedule();
  }

  close(): void {
    this.flush();
    this.stream.destroySoon();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.flush());
  }

  private closeFrame(): void {
    if (this.messages.length === 0) return;
    this.frames.push(frameOf(this.messages));
    this.messages = [];
  }

  private flush(): void {
    this.isScheduled = false;
    this.closeFrame();
    const { frames, stream } = this;
    this.frames = [];
    if (frames.length === 0 || !stream.writable) return;
    // Writes all frames in one system call, so the other process wakes up only once.
    if (frames.length > 1) stream.cork();
    for (const frame of frames) stream.write(frame);
    if (frames.length > 1) stream.uncork();
  }

  private receive(chunk: Buffer): void {
    this.parts.push(chunk);
    this.received += chunk.length;
    for (;;) {
      this.wanted ??= this.take(headBytes)?.readUInt32BE(0);
      if (this.wanted === undefined) return;
      const content = this.take(this.wanted);
      if (content === undefined) return;
      this.wanted = undefined;
      for (const message of deserialize(content) as Received[]) this.onMessage(message);
    }
  }

  private take(bytes: number): Buffer | undefined {
    if (this.received < bytes) return undefined;
    const all = this.parts.length === 1 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts, this.received);
    this.parts = all.length > bytes ? [all.subarray(bytes)] : [];
    this.received -= bytes;
    return all.subarray(0, bytes);
  }
}
