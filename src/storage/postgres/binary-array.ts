/*
 * Array parameters in the binary wire format. The driver's text form escapes every quote of every JSON document here
 * and parses it again on the server; the binary form only copies bytes.
 */

const OID_INT8 = 20;
const OID_INT2 = 21;
const OID_TEXT = 25;
const HEADER_BYTES = 20;

function header(buffer: Buffer, elementOid: number, length: number, hasNull: boolean): void {
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(hasNull ? 1 : 0, 4);
  buffer.writeInt32BE(elementOid, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
}

/** Encodes a `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  const lengths = new Array<number>(values.length);
  let size = HEADER_BYTES + 4 * values.length;
  let hasNull = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? null;
    const length = value === null ? -1 : Buffer.byteLength(value);
    lengths[i] = length;
    if (length >= 0) size += length;
    else hasNull = true;
  }
  const buffer = Buffer.allocUnsafe(size);
  header(buffer, OID_TEXT, values.length, hasNull);
  let offset = HEADER_BYTES;
  for (let i = 0; i < values.length; i++) {
    const length = lengths[i] ?? -1;
    buffer.writeInt32BE(length, offset);
    offset += 4;
    if (length >= 0) offset += buffer.write(values[i] ?? '', offset, length, 'utf8');
  }
  return buffer;
}

/** Encodes an `int8[]`. */
export function bigintArray(values: readonly (bigint | null)[]): Buffer {
  const nulls = values.reduce((count, value) => (value === null ? count + 1 : count), 0);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + 12 * values.length - 8 * nulls);
  header(buffer, OID_INT8, values.length, nulls > 0);
  let offset = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(value === null ? -1 : 8, offset);
    offset += 4;
    if (value !== null) offset = buffer.writeBigInt64BE(value, offset);
  }
  return buffer;
}

/** Encodes an `int2[]`. */
export function smallintArray(values: readonly (number | null)[]): Buffer {
  const nulls = values.reduce<number>((count, value) => (value === null ? count + 1 : count), 0);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + 6 * values.length - 2 * nulls);
  header(buffer, OID_INT2, values.length, nulls > 0);
  let offset = HEADER_BYTES;
  for (const value of values) {
    buffer.writeInt32BE(value === null ? -1 : 2, offset);
    offset += 4;
    if (value !== null) offset = buffer.writeInt16BE(value, offset);
  }
  return buffer;
}
