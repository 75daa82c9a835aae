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

/** Writes text into blocks, one after the other. */
export class BlockText {
  private block: Buffer | undefined;
  private used = 0;

  constructor(private readonly blocks: AnswerBlocks = answerBlocks) {}

  /** Adds text; returns false, and adds nothing, if it does not fit into the block. */
  append(text: string): boolean {
    const space = blockBytes - this.used;
    // A character takes at most three bytes in UTF-8.
    if (text.length * 3 > space && (text.length > space || Buffer.byteLength(text) > space)) return false;
    this.block ??= this.blocks.take();
    this.used += this.block.write(text, this.used);
    return true;
  }

  /** Adds text that did not fit. Yields the pieces that must be sent first. */
  *appendBehind(text: string): Generator<Buffer> {
    yield* this.rest();
    if (!this.append(text)) yield Buffer.from(text);
  }

  /** Yields the text added since the last piece, if any. */
  *rest(): Generator<Buffer> {
    const { block, used } = this;
    this.block = undefined;
    this.used = 0;
    if (block !== undefined) yield block.subarray(0, used);
  }
}
