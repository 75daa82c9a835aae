import { constants, createInflate, type Inflate } from 'node:zlib';
import { spdyDictionary } from './dictionary.js';
import { SpdyError } from './spdy-error.js';

/** The most bytes of a header block: much more than the names and values of a stream need. */
const maxHeaderBytes = 64 * 1024;

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
      const fail = () => reject(new SpdyError('the headers cannot be read'));
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
