import protobuf from 'protobufjs/minimal.js';
import { BytePieces } from '../../base/machinery/byte-pieces.js';
import { decode, type KindType } from '../../base/machinery/schema/index.js';
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
} from '../../base/machinery/schema/protobuf/index.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { type Bodies, type EncodedBody, jsonBodies, jsonType, type WatchEvent } from './bodies.js';

/** The most bytes of a watch event; a longer message is an error. */
const longestEvent = 64 * 1024 * 1024;

/**
 * Protobuf for objects of known kinds, JSON for everything else: patches, objects that don't say their kind, and objects
 * with fields that the declarations don't have, which protobuf would lose. Decoded objects are canonical, as JSON of the
 * same server is.
 */
export class ProtobufBodies implements Bodies {
  readonly accept: string;
  private readonly types = new Map<string, KindType>();

  /**
   * @param mediaType of protobuf: `application/vnd.kubernetes.protobuf`
   * @param kinds every kind that responses may contain
   */
  constructor(
    private readonly mediaType: string,
    names: VendorNames,
    kinds: readonly KindType[],
  ) {
    this.accept = `${mediaType},${jsonType}`;
    for (const type of kinds) {
      const { group, version, kind } = type.kind;
      const served = groupName(group, names);
      this.types.set(key(served === '' ? version : `${served}/${version}`, kind), type);
    }
  }

  encode(body: object): EncodedBody {
    const { apiVersion, kind } = body as { readonly apiVersion?: string; readonly kind?: string };
    const type = this.types.get(key(apiVersion ?? '', kind ?? ''));
    if (type === undefined || apiVersion === undefined || kind === undefined) return jsonBodies.encode(body);
    const { value, unknownFields } = decode(type, body);
    if (unknownFields.length > 0) return jsonBodies.encode(body);
    return { bytes: encodeEnvelope(apiVersion, kind, encodeProtobuf(type, value)), contentType: this.mediaType };
  }

  decode(bytes: Buffer, contentType: string): unknown {
    return this.isOwn(contentType) ? this.objectOf(bytes) : jsonBodies.decode(bytes, contentType);
  }

  async *events(stream: AsyncIterable<Buffer>, contentType: string): AsyncGenerator<WatchEvent<unknown>> {
    if (!this.isOwn(contentType)) return yield* jsonBodies.events(stream, contentType);
    for await (const frame of framesOf(stream)) yield this.eventOf(frame);
  }

  private isOwn(contentType: string): boolean {
    return contentType.startsWith(this.mediaType);
  }

  private objectOf(bytes: Uint8Array): object {
    const { apiVersion, kind, raw } = decodeEnvelope(bytes);
    const type = this.types.get(key(apiVersion, kind));
    if (type === undefined) throw new Error(`the server answered with an unexpected ${kind} of ${apiVersion}`);
    return { ...(decodeProtobuf(type, raw) as object), apiVersion, kind };
  }

  private eventOf(frame: Uint8Array): WatchEvent<unknown> {
    const reader = protobuf.Reader.create(frame);
    let type = '';
    let object: Uint8Array | undefined;
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag === textField(1)) type = reader.string();
      else if (tag === textField(2)) object = rawOf(reader.bytes());
      else reader.skipType(tag & 7);
    }
    if (object === undefined) throw new Error('an event has no object');
    return { type, object: this.objectOf(object) };
  }
}

const key = (apiVersion: string, kind: string) => `${apiVersion} ${kind}`;

/** The tag of a field of text, bytes or a message. */
const textField = (number: number) => number * 8 + 2;

/** The bytes of a raw object, which is a message with one field. */
function rawOf(message: Uint8Array): Uint8Array | undefined {
  const reader = protobuf.Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === textField(1)) return reader.bytes();
    reader.skipType(tag & 7);
  }
  return undefined;
}

/** The messages of a stream in which four bytes with its length, most significant first, precede each message. */
async function* framesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces = new BytePieces();
  /** Bytes of the next message and its length prefix, as far as they are known. */
  let wanted = 4;
  for await (const chunk of stream) {
    pieces.add(chunk);
    if (pieces.length < wanted) continue;
    let rest = pieces.join();
    for (;;) {
      wanted = rest.length < 4 ? 4 : 4 + rest.readUInt32BE(0);
      if (wanted > longestEvent) throw new Error('an event of a watch is too long');
      if (rest.length < wanted || rest.length < 4) break;
      yield rest.subarray(4, wanted);
      rest = rest.subarray(wanted);
    }
    pieces = new BytePieces();
    pieces.add(rest);
  }
}
