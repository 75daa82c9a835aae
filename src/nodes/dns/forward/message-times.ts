import { optType, responseCodes } from '../wire/codes.js';
import { headerBytes } from '../wire/query.js';

/** Where a message contains the times of its records, and how long the message may be cached. */
export interface MessageTimes {
  /** Offsets of the times of records. */
  readonly places: readonly number[];
  /** Seconds. For negative responses, the time from the SOA record; 0: not at all. */
  readonly keepSeconds: number;
  readonly isNegative: boolean;
}

const soaType = 6;
/** The numbers at the end of an SOA record. */
const soaNumbersBytes = 20;

/** Undefined for messages that must not be cached: errors, truncated ones, and malformed ones. */
export function messageTimes(message: Buffer): MessageTimes | undefined {
  const flags = message.readUInt16BE(2);
  const code = flags & 15;
  if ((flags & 0x0200) !== 0) return undefined;
  if (code !== responseCodes.NOERROR && code !== responseCodes.NXDOMAIN) return undefined;
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  let offset: number | undefined = headerBytes;
  for (let index = 0; index < (questions ?? 0); index++) {
    const end = afterName(message, offset);
    if (end === undefined) return undefined;
    offset = end + 4;
  }
  const places: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  let negative: number | undefined;
  const total = (answers ?? 0) + (authorities ?? 0) + (additionals ?? 0);
  for (let index = 0; index < total; index++) {
    const end = afterName(message, offset);
    if (end === undefined || end + 10 > message.length) return undefined;
    const type = message.readUInt16BE(end);
    const length = message.readUInt16BE(end + 8);
    const next: number = end + 10 + length;
    if (next > message.length) return undefined;
    if (type === optType) {
      // Options apply only to this client and this query.
      if (length > 0) return undefined;
    } else {
      const ttl = message.readUInt32BE(end + 4);
      places.push(end + 4);
      least = Math.min(least, ttl > 0x7fffffff ? 0 : ttl);
      const isAuthority = index >= (answers ?? 0) && index < (answers ?? 0) + (authorities ?? 0);
      if (isAuthority && type === soaType && length >= soaNumbersBytes) {
        negative = Math.min(ttl, message.readUInt32BE(next - 4));
      }
    }
    offset = next;
  }
  const isNegative = code === responseCodes.NXDOMAIN || answers === 0;
  if (isNegative) return { places, keepSeconds: Math.min(least, negative ?? 0), isNegative };
  return { places, keepSeconds: Number.isFinite(least) ? least : 0, isNegative };
}

/** The offset after a name, which may be compressed. */
function afterName(message: Buffer, start: number): number | undefined {
  let offset = start;
  for (;;) {
    const length = message[offset];
    if (length === undefined) return undefined;
    if (length === 0) return offset + 1;
    if (length >= 0xc0) return offset + 2;
    if (length > 63) return undefined;
    offset += 1 + length;
  }
}
