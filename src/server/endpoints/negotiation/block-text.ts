import { type AnswerBlocks, answerBlocks, blockBytes } from './answer-blocks.js';

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
