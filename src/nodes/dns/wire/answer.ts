import packet from 'dns-packet';
import { internetClass, optType, type RecordType, type ResponseCode, responseCodes, typeNumber } from './codes.js';
import { headerBytes, type Query } from './query.js';

/** A record in the form of the library. Names have no dot at the end. */
export interface NameRecord {
  readonly name: string;
  readonly type: RecordType | (string & {});
  /** Seconds. */
  readonly ttl: number;
  readonly data: unknown;
}

/** The answer to a query. */
export interface Answer {
  readonly code: ResponseCode;
  /** Whether this server is authoritative for the name. */
  readonly isAuthoritative: boolean;
  readonly answers: readonly NameRecord[];
  readonly authorities: readonly NameRecord[];
  readonly additionals: readonly NameRecord[];
}

export function answerOf(code: ResponseCode, parts: Partial<Omit<Answer, 'code'>> = {}): Answer {
  return { code, isAuthoritative: false, answers: [], authorities: [], additionals: [], ...parts };
}

/** The largest UDP message for clients that don't announce a size. */
export const plainBytes = 512;
/** The largest TCP message. */
export const mostBytes = 65_535;
/** Extensions that this server asks for, and answers with over UDP: what passes through networks in one piece. */
export const ownUdpBytes = 1232;

const optBytes = 11;

/**
 * The message with the answer to a query. Records that do not fit are left out, first additional ones, then answers,
 * and the message is marked as truncated.
 *
 * @param limit most bytes of the message
 */
export function encodeAnswer(query: Query, answer: Answer, limit: number): Buffer {
  const writer = new MessageWriter(
    query.question,
    query.labels,
    limit - (query.extensions === undefined ? 0 : optBytes),
  );
  const answers = writer.addAll(answer.answers);
  const isTruncated = answers < answer.answers.length;
  const authorities = isTruncated ? 0 : writer.addAll(answer.authorities);
  const additionals = isTruncated ? 0 : writer.addAll(answer.additionals);
  const code = responseCodes[answer.code];
  if (query.extensions !== undefined) writer.addOpt(code >> 4, query.extensions.wantsSignatures);
  const counts = [answers, authorities, additionals + (query.extensions === undefined ? 0 : 1)];
  return writer.finish(query, flagsOf(query, answer, isTruncated) | (code & 15), counts);
}

function flagsOf({ flags, operation }: Query, { isAuthoritative }: Answer, isTruncated: boolean): number {
  const asked = flags & 0x0110; // The wishes for recursion and unchecked data are repeated.
  return 0x8080 | (operation << 11) | asked | (isAuthoritative ? 0x0400 : 0) | (isTruncated ? 0x0200 : 0);
}

/** Writes records whose owners are compressed by names that the message already has. */
class MessageWriter {
  private readonly parts: Buffer[] = [];
  private length: number;
  /** The offset of each name in the message, by its text in lower case. */
  private readonly places = new Map<string, number>();
  /** The name of the record before, and where the message has it. */
  private before: { readonly name: string; readonly place: number | undefined } | undefined;

  constructor(
    private readonly question: Buffer,
    labels: readonly string[],
    private readonly limit: number,
  ) {
    this.length = headerBytes + question.length;
    this.remember(this.ownerOf(labels.join('.')).ends, headerBytes);
  }

  /** @returns how many records fit */
  addAll(records: readonly NameRecord[]): number {
    let count = 0;
    for (const record of records) {
      if (!this.add(record)) break;
      count += 1;
    }
    return count;
  }

  addOpt(extendedCode: number, wantsSignatures: boolean): void {
    const opt = Buffer.alloc(optBytes);
    opt.writeUInt16BE(optType, 1);
    opt.writeUInt16BE(ownUdpBytes, 3);
    opt.writeUInt8(extendedCode, 5);
    opt.writeUInt8(wantsSignatures ? 0x80 : 0, 7);
    this.parts.push(opt);
  }

  finish({ id }: Query, flags: number, counts: readonly number[]): Buffer {
    const header = Buffer.alloc(headerBytes);
    header.writeUInt16BE(id, 0);
    header.writeUInt16BE(flags, 2);
    header.writeUInt16BE(this.question.length === 0 ? 0 : 1, 4);
    for (const [index, count] of counts.entries()) header.writeUInt16BE(count, 6 + 2 * index);
    return Buffer.concat([header, this.question, ...this.parts]);
  }

  private add({ name, type, ttl, data }: NameRecord): boolean {
    // Thousands of records may have one name.
    const isSame = name === this.before?.name && this.before.place !== undefined;
    const owner = isSame ? { bytes: referenceTo(this.before?.place ?? 0), ends: [] } : this.ownerOf(name);
    const fixed = Buffer.allocUnsafe(8);
    fixed.writeUInt16BE(typeNumber(type), 0);
    fixed.writeUInt16BE(internetClass, 2);
    fixed.writeUInt32BE(ttl, 4);
    const content = packet.record(type).encode(data);
    const size = owner.bytes.length + fixed.length + content.length;
    if (this.length + size > this.limit) return false;
    this.remember(owner.ends, this.length);
    this.parts.push(owner.bytes, fixed, content);
    this.length += size;
    if (!isSame) this.before = { name, place: this.places.get(name.toLowerCase()) };
    return true;
  }

  /** A name whose end refers to the same end of an earlier name, and where its own ends are within it. */
  private ownerOf(name: string): Owner {
    const labels = name.split('.').filter((label) => label !== '');
    const parts: Buffer[] = [];
    const ends: [string, number][] = [];
    let offset = 0;
    for (let index = 0; index < labels.length; index++) {
      const text = labels.slice(index).join('.').toLowerCase();
      const place = this.places.get(text);
      if (place !== undefined) return { bytes: Buffer.concat([...parts, referenceTo(place)]), ends };
      ends.push([text, offset]);
      const label = Buffer.from(labels[index] ?? '', 'latin1');
      parts.push(Buffer.from([label.length]), label);
      offset += 1 + label.length;
    }
    return { bytes: Buffer.concat([...parts, Buffer.from([0])]), ends };
  }

  /** Records the offsets of a name's suffixes, as far as compression reaches. */
  private remember(ends: Owner['ends'], at: number): void {
    for (const [text, offset] of ends) {
      if (at + offset < 0x4000 && !this.places.has(text)) this.places.set(text, at + offset);
    }
  }
}

interface Owner {
  readonly bytes: Buffer;
  readonly ends: readonly (readonly [string, number])[];
}

function referenceTo(place: number): Buffer {
  const reference = Buffer.alloc(2);
  reference.writeUInt16BE(0xc000 | place, 0);
  return reference;
}
