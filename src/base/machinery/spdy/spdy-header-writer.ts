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

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
