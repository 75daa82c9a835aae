import { type KindType, kind, list, required, type StructType } from '../../../base/machinery/schema/index.js';
import type { ByteRange } from '../../../storage/storage.interface.js';
import { ByteRanges } from './byte-ranges.js';
import { protobufCodec } from './protobuf-codec.js';

/** Any value with kind and apiVersion that a declaration describes. */
export interface TypedValue {
  readonly kind?: string;
  readonly apiVersion?: string;
}

/** The complete protobuf body of a value: envelope and message. */
export function protobufBody(type: StructType, value: TypedValue): Buffer {
  const { encodeEnvelope, encodeProtobuf } = protobufCodec();
  return encodeEnvelope(value.apiVersion ?? '', value.kind ?? '', encodeProtobuf(type, value));
}

/** One event of a protobuf watch stream. */
export function protobufEvent(eventType: string, type: StructType, value: TypedValue): Buffer {
  return protobufCodec().encodeWatchFrame(eventType, protobufBody(type, value));
}

const listTypes = new WeakMap<KindType, KindType>();

/** The list type of a kind. Only its message matters here; callers supply the names. */
function listTypeOf(item: KindType): KindType {
  let type = listTypes.get(item);
  if (type === undefined) {
    type = kind({ ...item.kind, kind: `${item.kind.kind}List` }, { items: required(2, list(item)) });
    listTypes.set(item, type);
  }
  return type;
}

/** One item of a list in the message of the list: tag, length and message. */
export function protobufItem(item: KindType, object: unknown): Uint8Array {
  return protobufCodec().encodeProtobuf(listTypeOf(item), { items: [object] });
}

/** The offset at which the message of a {@link protobufItem} begins: after the tag and the length. */
export function messageStart({ source, start }: ByteRange): number {
  let at = start + 1;
  while ((source[at] as number) >= 0x80) at++;
  return at + 1;
}

/**
 * A protobuf list, encoded page by page: of earlier pages only the encoded bytes are kept. They can't be sent before
 * the last page, since the body starts with its total length.
 */
export class ProtobufList {
  private readonly items = new ByteRanges();

  constructor(private readonly item: KindType) {}

  add(objects: readonly unknown[]): void {
    if (objects.length > 0) this.items.copy(protobufCodec().encodeProtobuf(listTypeOf(this.item), { items: objects }));
  }

  /** Adds the result of {@link protobufItem}. */
  addItem(item: ByteRange): void {
    this.items.add(item);
  }

  /** The body in pieces, in order. */
  *finish(identity: Required<TypedValue>, listMeta: StructType, metadata: unknown): Generator<Uint8Array> {
    yield* protobufListHead(identity, listMeta, metadata, this.items.length);
    yield* this.items.pieces();
  }
}

/** What comes before the items of a list whose items have this many bytes. */
export function* protobufListHead(
  { apiVersion, kind }: Required<TypedValue>,
  listMeta: StructType,
  metadata: unknown,
  itemBytes: number,
): Generator<Uint8Array> {
  const { encodeProtobuf, encodeEnvelopeHead } = protobufCodec();
  const message = encodeProtobuf(metadataHolder(listMeta), { metadata });
  yield encodeEnvelopeHead(apiVersion, kind, itemBytes + message.length);
  yield message;
}

const metadataHolders = new WeakMap<StructType, KindType>();

/**
 * A message with the list's metadata only. Protobuf messages merge, so placed before the messages with items it
 * completes the list.
 */
function metadataHolder(listMeta: StructType): KindType {
  let type = metadataHolders.get(listMeta);
  if (type === undefined) {
    type = kind({ group: '', version: 'v1', kind: 'List' }, { metadata: required(1, listMeta) });
    metadataHolders.set(listMeta, type);
  }
  return type;
}
