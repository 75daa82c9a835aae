import {
  type CborShape,
  cborShapeOf,
  encodeCbor,
  encodeCborHead,
  selfDescribed,
  shapeAt,
} from '../../../base/machinery/cbor/index.js';
import type { SchemaType } from '../../../base/machinery/schema/index.js';
import type { ByteRange } from '../../../storage/storage.interface.js';
import type { AcceptedType } from './accept.js';

/** The complete CBOR body of a value. */
export function cborBody(value: unknown, shape: CborShape | undefined): Buffer {
  const item = encodeCbor(value, shape);
  return Buffer.concat([selfDescribed, item], selfDescribed.length + item.length);
}

/**
 * One event of a watch: a self-described item that contains a self-described body, since clients decode both
 * separately.
 */
export function cborEvent(eventType: string, value: unknown, shape: CborShape | undefined): Buffer {
  return Buffer.concat([eventStart(eventType), encodeCbor(value, shape)]);
}

/** The bytes of an event before its object, which starts with the head of a map. */
function eventStart(eventType: string): Buffer {
  const parts = [encodeCborHead('map', 2), ...['type', eventType, 'object'].map((text) => encodeCbor(text))];
  return Buffer.concat([selfDescribed, ...parts, selfDescribed]);
}

/** Makes watch events of one type from encoded list items. */
export class CborFrames {
  private readonly start: Buffer;
  private readonly identity: Buffer | undefined;

  /** @param identity of the objects, if their items lack it. */
  constructor(eventType: string, identity?: { readonly kind: string; readonly apiVersion: string }) {
    this.start = eventStart(eventType);
    if (identity !== undefined) {
      this.identity = Buffer.concat(
        Object.entries(identity).flatMap((member) => member.map((text) => encodeCbor(text))),
      );
    }
  }

  /** The event for the object in a range, which is a map. */
  encode({ source, start, end }: ByteRange): Buffer {
    if (this.identity === undefined) return Buffer.concat([this.start, source.subarray(start, end)]);
    const { members, next } = readMapHead(source, start);
    const head = encodeCborHead('map', members + 2);
    return Buffer.concat([this.start, head, this.identity, source.subarray(next, end)]);
  }
}

/** Reads the head of a map with fewer than 2^32 members. */
function readMapHead(source: Buffer, start: number): { readonly members: number; readonly next: number } {
  const info = (source[start] as number) & 0x1f;
  const lengthBytes = info < 24 ? 0 : 2 ** (info - 24);
  const next = start + 1 + lengthBytes;
  return { members: lengthBytes === 0 ? info : source.readUIntBE(start + 1, lengthBytes), next };
}

/** Which values in the accepted form are bytes; `type` is the type of the objects in it. */
export function cborShape(type: SchemaType, { as }: AcceptedType): CborShape | undefined {
  switch (as) {
    case undefined:
      return cborShapeOf(type);
    case 'Table':
      return shapeAt('rows', shapeAt('object', cborShapeOf(type)));
    default:
      return undefined;
  }
}
