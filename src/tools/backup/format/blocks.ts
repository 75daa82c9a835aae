import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { BackupFileError } from './backup-file-error.js';

/**
 * A backup file is a sequence of gzip members, so that every program that reads gzip can read it. Each member has its
 * own length in an extra field of its header, so that readers find the next one without unpacking, can begin at any of
 * them, and never unpack more than {@link blockBytes} at once.
 */

const deflated = promisify(deflateRaw);
const inflated = promisify(inflateRaw);

/** The most that one block holds, unpacked. */
export const blockBytes = 1024 * 1024;
/** Magic numbers, method, flag of the extra field, no time, no level, system unknown, length and name of the field. */
const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x50, 0x42, 4, 0]);
const headBytes = head.length + 4;
const tailBytes = 8;
/** The most bytes of a packed block: packed data is hardly ever longer than the data itself. */
const mostBlockBytes = headBytes + tailBytes + blockBytes + 64 * 1024;

/** The block that holds these bytes, at most {@link blockBytes}. */
export async function packBlock(data: Buffer): Promise<Buffer> {
  return withFrame(data, await deflated(data, { level: 4 }));
}

/** The last block of a file. There is one way to write it: each of its bytes can be checked. */
export function packLastBlock(data: Buffer): Buffer {
  return withFrame(data, deflateRawSync(data, { level: constants.Z_NO_COMPRESSION }));
}

function withFrame(data: Buffer, packed: Buffer): Buffer {
  const length = headBytes + packed.length + tailBytes;
  const block = Buffer.alloc(length);
  head.copy(block);
  block.writeUInt32LE(length, head.length);
  packed.copy(block, headBytes);
  block.writeUInt32LE(crc32(data), length - tailBytes);
  block.writeUInt32LE(data.length, length - 4);
  return block;
}

/** One block as it stands in the file. */
export interface Block {
  readonly offset: number;
  /** Where the next block begins. */
  readonly end: number;
  readonly data: Buffer;
}

/** Reads the blocks of an open file. Every fault of the file is a {@link BackupFileError}. */
export class BlockReader {
  /** Digests of the blocks that {@link all} has read: a file that changes afterwards is noticed. */
  private readonly known = new Map<number, string>();

  private constructor(
    private readonly file: FileHandle,
    readonly size: number,
  ) {}

  static async of(file: FileHandle): Promise<BlockReader> {
    const stat = await file.stat();
    if (!stat.isFile()) throw new BackupFileError('is not a file');
    return new BlockReader(file, stat.size);
  }

  /**
   * All blocks from the first to the last one.
   *
   * @param digest receives the bytes of all blocks but the last one
   */
  async *all(digest: Hash): AsyncGenerator<Block> {
    for (let offset = 0; offset < this.size; ) {
      const bytes = await this.bytesAt(offset);
      const end = offset + bytes.length;
      this.known.set(offset, digestOf(bytes));
      if (end < this.size) digest.update(bytes);
      yield { offset, end, data: await this.unpack(bytes, offset) };
      offset = end;
    }
  }

  /** The block at an offset, which {@link all} has read if `isKnown`. */
  async at(offset: number, isKnown = true): Promise<Block> {
    const bytes = await this.bytesAt(offset);
    if (isKnown && this.known.get(offset) !== digestOf(bytes)) {
      throw new BackupFileError('was changed while it was read');
    }
    return { offset, end: offset + bytes.length, data: await this.unpack(bytes, offset) };
  }

  /** Where the last block begins, found without unpacking. */
  async lastOffset(): Promise<number> {
    for (let offset = 0; ; ) {
      const next = offset + (await this.lengthAt(offset));
      if (next >= this.size) return offset;
      offset = next;
    }
  }

  private async lengthAt(offset: number): Promise<number> {
    const start = Buffer.alloc(headBytes);
    const { bytesRead } = await this.file.read(start, 0, headBytes, offset);
    if (offset === 0 && !start.subarray(0, 3).equals(head.subarray(0, 3))) {
      throw new BackupFileError('is not a backup: it does not begin as one');
    }
    if (bytesRead < headBytes) throw new BackupFileError('is cut off: it ends within a block');
    if (!start.subarray(0, head.length).equals(head)) {
      throw new BackupFileError(
        offset === 0 ? 'is not a backup: it does not begin as one' : `is damaged: no block begins at byte ${offset}`,
      );
    }
    const length = start.readUInt32LE(head.length);
    if (length < headBytes + tailBytes || length > mostBlockBytes) {
      throw new BackupFileError(`is damaged: the block at byte ${offset} has an impossible length`);
    }
    return length;
  }

  private async bytesAt(offset: number): Promise<Buffer> {
    const length = await this.lengthAt(offset);
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await this.file.read(bytes, 0, length, offset);
    if (bytesRead < length) throw new BackupFileError('is cut off: it ends within a block');
    return bytes;
  }

  private async unpack(bytes: Buffer, offset: number): Promise<Buffer> {
    const size = bytes.readUInt32LE(bytes.length - 4);
    const damaged = (why: string, cause?: unknown) =>
      new BackupFileError(`is damaged: the block at byte ${offset} ${why}`, { cause });
    if (size > blockBytes) throw damaged('claims to be larger than blocks are');
    let data: Buffer;
    try {
      data = await inflated(bytes.subarray(headBytes, -tailBytes), { maxOutputLength: blockBytes });
    } catch (error) {
      throw damaged("can't be unpacked", error);
    }
    if (data.length !== size || crc32(data) !== bytes.readUInt32LE(bytes.length - tailBytes)) {
      throw damaged('does not have its checksum');
    }
    // There is only one way to write the last block, which the digest leaves out.
    if (offset + bytes.length === this.size && !packLastBlock(data).equals(bytes)) {
      throw new BackupFileError('is cut off or damaged: its last block is none that ends a backup');
    }
    return data;
  }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}
