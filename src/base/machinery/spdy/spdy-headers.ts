import { constants, createInflate, type Inflate } from 'node:zlib';
import { spdyDictionary } from './dictionary.js';
import { SpdyError } from './spdy-frames.js';

/** The most bytes of a header block: much more than the names and values of a stream need. */
const maxHeaderBytes = 64 * 1024;
/** The first bytes of a compressed stream without a dictionary (RFC 1950 section 2.2). */
const zlibHead = Buffer.from([0x78, 0x01]);
/** An empty block: readers process the data they have before they look for the next block. */
const flush = Buffer.from([0, 0, 0, 0xff, 0xff]);

/**
 * Writes the headers of one connection, in order. The blocks are stored instead of compressed (RFC 1951 section 3.2.4),
 * which every reader accepts: there are few of them, and they are short.
 */
export class SpdyHeaderWriter {
  private isBegun = false;

  /** @param headers by lower-case name; less than 64 KiB together */
  write(headers: Readonly<Record<string, string>>): Buffer {
    const entries = Object.entries(headers);
    const texts = entries.flat().map((text) => Buffer.from(text, 'latin1'));
    const body = Buffer.concat([uint32(entries.length), ...texts.flatMap((text) => [uint32(text.length), text])]);
    const head = Buffer.from([0, 0, 0, 0, 0]);
    head.writeUInt16LE(body.length, 1);
    head.writeUInt16LE(body.length ^ 0xffff, 3);
    const begin = this.isBegun ? [] : [zlibHead];
    this.isBegun = true;
    return Buffer.concat([...begin, head, body, flush]);
  }
}

/** Reads the headers of one connection, in order. */
export class SpdyHeaderReader {
  private readonly inflate: Inflate;
  private chunks: Buffer[] = [];
  private size = 0;

  constructor() {
    this.inflate = createInflate({ dictionary: spdyDictionary });
    this.inflate.on('data', (chunk: Buffer) => {
      this.size += chunk.length;
      if (this.size <= maxHeaderBytes) this.chunks.push(chunk);
    });
  }

  /** The headers of a block by lower-case name. Throws {@link SpdyError} for an invalid block. One block at a time. */
  async read(block: Buffer): Promise<ReadonlyMap<string, string>> {
    this.chunks = [];
    this.size = 0;
    const { inflate } = this;
    await new Promise<void>((resolve, reject) => {
      const fail = () => reject(new SpdyError('the headers can not be read'));
      inflate.once('error', fail);
      inflate.write(block);
      inflate.flush(constants.Z_SYNC_FLUSH, () => {
        inflate.removeListener('error', fail);
        resolve();
      });
    });
    if (this.size > maxHeaderBytes) throw new SpdyError('the headers are too long');
    return parse(Buffer.concat(this.chunks));
  }

  stop(): void {
    this.inflate.on('error', () => undefined);
    this.inflate.destroy();
  }
}

function parse(bytes: Buffer): ReadonlyMap<string, string> {
  let at = 0;
  const number = () => {
    if (at + 4 > bytes.length) throw new SpdyError('the headers end early');
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const text = () => {
    const end = number() + at;
    if (end > bytes.length) throw new SpdyError('the headers end early');
    const found = bytes.toString('latin1', at, end);
    at = end;
    return found;
  };
  const headers = new Map<string, string>();
  for (let count = number(); count > 0; count--) {
    const name = text();
    headers.set(name.toLowerCase(), text());
  }
  return headers;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
