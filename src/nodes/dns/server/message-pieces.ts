import { BytePieces } from '../../../base/machinery/byte-pieces.js';

const lengthBytes = 2;

/** The messages of a connection, each behind its length. They may come in pieces of one byte. */
export class MessagePieces {
  private pieces = new BytePieces();
  /** The bytes that the next step needs: a length, or a message with its length. */
  private wanted = lengthBytes;

  add(chunk: Buffer): void {
    this.pieces.add(chunk);
  }

  /** The next message, if all of it has come. */
  take(): Buffer | undefined {
    if (this.pieces.length < this.wanted) return undefined;
    const bytes = this.pieces.join();
    const end = lengthBytes + bytes.readUInt16BE(0);
    const isWhole = bytes.length >= end;
    this.pieces = new BytePieces();
    this.pieces.add(isWhole ? bytes.subarray(end) : bytes);
    this.wanted = isWhole ? lengthBytes : end;
    return isWhole ? bytes.subarray(lengthBytes, end) : undefined;
  }
}
