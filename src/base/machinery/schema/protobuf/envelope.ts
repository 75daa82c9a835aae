import protobuf from 'protobufjs/minimal.js';
import { DecodeError } from '../decode-error.js';
import { WireType } from './wire-type.js';

/** The first bytes of every protobuf body. */
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const noPrefix = `provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`;

/** The data around the protobuf message of an object. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  /** The content encoding; empty for none. */
  readonly contentEncoding: string;
  /** The content type; empty for protobuf. */
  readonly contentType: string;
}

const lengthDelimited = (number: number) => (number << 3) | WireType.bytes;

/** The complete body for a message: magic bytes, kind and apiVersion, message. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(lengthDelimited(1)).fork();
  writer.uint32(lengthDelimited(1)).string(apiVersion).uint32(lengthDelimited(2)).string(kind).ldelim();
  writer.uint32(lengthDelimited(2)).bytes(raw);
  writer.uint32(lengthDelimited(3)).string('').uint32(lengthDelimited(4)).string('');
  return Buffer.concat([magic, writer.finish()]);
}

/** The part of a body before a message of `rawLength` bytes; followed by the message, it forms a complete body. */
export function encodeEnvelopeHead(apiVersion: string, kind: string, rawLength: number): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(lengthDelimited(1)).fork();
  writer.uint32(lengthDelimited(1)).string(apiVersion).uint32(lengthDelimited(2)).string(kind).ldelim();
  writer.uint32(lengthDelimited(2)).uint32(rawLength);
  return Buffer.concat([magic, writer.finish()]);
}

/** The bytes before an element of a repeated field of messages. */
export function repeatedHead(number: number, length: number): Uint8Array {
  return protobuf.Writer.create().uint32(lengthDelimited(number)).uint32(length).finish();
}

/** Whether data begins like a protobuf body. */
export function isEnvelope(data: Uint8Array): boolean {
  return data.length >= magic.length && magic.equals(data.subarray(0, magic.length));
}

/**
 * Splits a body; missing kind and apiVersion are empty. The message shares the memory of `data`.
 *
 * @throws {DecodeError} for a body that is not an envelope.
 */
export function decodeEnvelope(data: Uint8Array): Envelope {
  if (!isEnvelope(data)) throw new DecodeError('', noPrefix);
  try {
    return readEnvelope(data.subarray(magic.length));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new DecodeError('', `invalid protobuf envelope: ${error.message}`);
  }
}

function readEnvelope(data: Uint8Array): Envelope {
  const texts = { apiVersion: '', kind: '', contentEncoding: '', contentType: '' };
  let raw: Uint8Array = new Uint8Array();
  const reader = protobuf.Reader.create(data);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === lengthDelimited(1)) readTypeMeta(reader, reader.uint32() + reader.pos, texts);
    else if (tag === lengthDelimited(2)) raw = reader.bytes();
    else if (tag === lengthDelimited(3)) texts.contentEncoding = reader.string();
    else if (tag === lengthDelimited(4)) texts.contentType = reader.string();
    else reader.skipType(tag & 7);
  }
  return { ...texts, raw };
}

function readTypeMeta(reader: protobuf.Reader, end: number, texts: { apiVersion: string; kind: string }): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === lengthDelimited(1)) texts.apiVersion = reader.string();
    else if (tag === lengthDelimited(2)) texts.kind = reader.string();
    else reader.skipType(tag & 7);
  }
}

/** How many bytes a number takes as a varint. */
function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

function writeField(frame: Buffer, at: number, number: number, length: number): number {
  let next = at;
  frame[next++] = lengthDelimited(number);
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) frame[next++] = (rest % 0x80) | 0x80;
  frame[next++] = rest;
  return next;
}

const fieldLength = (length: number) => 1 + varintLength(length) + length;

/** Two empty fields at the end of an envelope: its encoding and its content type. */
const envelopeEnd = Buffer.from([lengthDelimited(3), 0, lengthDelimited(4), 0]);

/** Writes the frames of {@link encodeWatchFrame} around already encoded messages of one kind, in one step. */
export class WatchFrames {
  private readonly type: Buffer;
  private readonly kind: Buffer;

  constructor(type: string, apiVersion: string, kind: string) {
    this.type = Buffer.from(type);
    const writer = protobuf.Writer.create();
    writer.uint32(lengthDelimited(1)).string(apiVersion).uint32(lengthDelimited(2)).string(kind);
    this.kind = Buffer.from(writer.finish());
  }

  /** The frame of the message at `source[start..end]`, in what `allocate` returns for its length. */
  encode(source: Buffer, start: number, end: number, allocate: (bytes: number) => Buffer): Buffer {
    const { type, kind } = this;
    const message = end - start;
    const body = magic.length + fieldLength(kind.length) + fieldLength(message) + envelopeEnd.length;
    const object = fieldLength(body);
    const event = fieldLength(type.length) + fieldLength(object);
    const frame = allocate(4 + event);
    let at = frame.writeUInt32BE(event, 0);
    at = writeField(frame, at, 1, type.length);
    at += type.copy(frame, at);
    at = writeField(frame, at, 2, object);
    at = writeField(frame, at, 1, body);
    at += magic.copy(frame, at);
    at = writeField(frame, at, 1, kind.length);
    at += kind.copy(frame, at);
    at = writeField(frame, at, 2, message);
    at += source.copy(frame, at, start, end);
    envelopeEnd.copy(frame, at);
    return frame;
  }
}

/**
 * One event of a protobuf watch stream: its length in four bytes (most significant first), then the event, which
 * contains the complete body of the object (with envelope).
 */
export function encodeWatchFrame(type: string, objectBody: Uint8Array): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(lengthDelimited(1)).string(type);
  writer.uint32(lengthDelimited(2)).fork().uint32(lengthDelimited(1)).bytes(objectBody).ldelim();
  const event = writer.finish();
  const frame = Buffer.allocUnsafe(4 + event.length);
  frame.writeUInt32BE(event.length, 0);
  frame.set(event, 4);
  return frame;
}
