import { optType } from './codes.js';

/** The EDNS part of a query. */
export interface Extensions {
  /** The longest UDP response that the client accepts. */
  readonly size: number;
  readonly version: number;
  readonly wantsSignatures: boolean;
}

/** A parsed query. */
export interface Query {
  readonly id: number;
  readonly flags: number;
  readonly operation: number;
  /** The labels of the name in lower case, without the root. Bytes above 127 are characters of Latin-1. */
  readonly labels: readonly string[];
  readonly type: number;
  readonly recordClass: number;
  /** The question with its original bytes. */
  readonly question: Buffer;
  readonly extensions: Extensions | undefined;
  /** Whether the message has nothing but what the fields above say, so that equal fields mean equal answers. */
  readonly isPlain: boolean;
}

/** A message that can't be answered as a query: `drop` gets no response, `malformed` gets an error. */
export type QueryProblem = 'drop' | 'malformed';

export const headerBytes = 12;
const mostNameBytes = 255;
/** Queries have no records except those for EDNS and for signatures of the transport. */
const mostAdditionals = 4;

/** Reads a query with one question. Never throws. */
export function readQuery(message: Buffer): Query | QueryProblem {
  // Responses to responses could go back and forth for ever.
  if (message.length < headerBytes || (message.readUInt16BE(2) & 0x8000) !== 0) return 'drop';
  const flags = message.readUInt16BE(2);
  const operation = (flags >> 11) & 15;
  const counts = [4, 6, 8, 10].map((offset) => message.readUInt16BE(offset)) as [number, number, number, number];
  if (operation !== 0) {
    const nothing = {
      labels: [],
      type: 0,
      recordClass: 0,
      question: Buffer.alloc(0),
      extensions: undefined,
      isPlain: false,
    };
    return { id: message.readUInt16BE(0), flags, operation, ...nothing };
  }
  if (counts[0] !== 1 || counts[1] !== 0 || counts[2] !== 0 || counts[3] > mostAdditionals) return 'malformed';
  const name = readName(message, headerBytes);
  if (name === undefined || name.end + 4 > message.length) return 'malformed';
  const rest = readExtensions(message, name.end + 4, counts[3]);
  if (rest === 'malformed') return 'malformed';
  return {
    id: message.readUInt16BE(0),
    flags,
    operation,
    labels: name.labels,
    type: message.readUInt16BE(name.end),
    recordClass: message.readUInt16BE(name.end + 2),
    question: message.subarray(headerBytes, name.end + 4),
    ...rest,
  };
}

interface Name {
  readonly labels: readonly string[];
  readonly end: number;
}

/** Reads an uncompressed name: queries have no reason for compression. */
function readName(message: Buffer, start: number): Name | undefined {
  const labels: string[] = [];
  let offset = start;
  for (;;) {
    const length = message[offset];
    if (length === undefined || length > 63) return undefined;
    offset += 1;
    if (length === 0) return { labels, end: offset };
    if (offset + length > message.length || offset + length - start >= mostNameBytes) return undefined;
    labels.push(message.toString('latin1', offset, offset + length).toLowerCase());
    offset += length;
  }
}

function readExtensions(
  message: Buffer,
  start: number,
  count: number,
): Pick<Query, 'extensions' | 'isPlain'> | 'malformed' {
  let offset = start;
  let isPlain = true;
  let found: Extensions | undefined;
  for (let index = 0; index < count; index++) {
    const name = readName(message, offset);
    if (name === undefined || name.end + 10 > message.length) return 'malformed';
    const { end } = name;
    const length = message.readUInt16BE(end + 8);
    if (end + 10 + length > message.length) return 'malformed';
    if (message.readUInt16BE(end) === optType) {
      if (found !== undefined || name.labels.length > 0) return 'malformed';
      const size = message.readUInt16BE(end + 2);
      const version = message.readUInt8(end + 5);
      const wantsSignatures = (message.readUInt8(end + 6) & 0x80) !== 0;
      found = { size, version, wantsSignatures };
      if (length > 0) isPlain = false;
    } else isPlain = false;
    offset = end + 10 + length;
  }
  return { extensions: found, isPlain: isPlain && offset === message.length };
}
