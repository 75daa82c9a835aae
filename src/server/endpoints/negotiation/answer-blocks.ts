/**
 * Size of one block in bytes. A client that does not read occupies up to two blocks, or a complete response of a few
 * blocks; filling, encrypting and sending a block takes a fraction of a millisecond.
 */
export const blockBytes = 128 * 1024;
/** Maximum number of free blocks that are kept for later responses. */
const mostFree = 16;

/**
 * Memory into which responses are written piece by piece. It is reused as soon as a piece was sent: allocating and
 * collecting new memory for each piece costs more than filling it.
 */
export class AnswerBlocks {
  private readonly free: Buffer[] = [];
  private readonly lent = new WeakSet<ArrayBufferLike>();

  take(): Buffer {
    const block = this.free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
    this.lent.add(block.buffer);
    return block;
  }

  /**
   * Takes back the block of a piece, if the piece belongs to one. Only for pieces that will not be read again: their
   * bytes are overwritten by another response. A block that is never given back is garbage-collected.
   */
  giveBack(piece: string | Uint8Array): void {
    if (typeof piece === 'string' || !this.lent.delete(piece.buffer)) return;
    if (this.free.length < mostFree) this.free.push(Buffer.from(piece.buffer, 0, blockBytes));
  }
}

/** The blocks of this thread. */
export const answerBlocks = new AnswerBlocks();
