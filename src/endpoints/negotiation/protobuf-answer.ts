import { type KindType, kind, list, required, type StructType } from '../../machinery/schema/index.js';
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

/**
 * A protobuf list, encoded page by page: only the encoded bytes of earlier pages are kept. They can't be sent before
 * the last page, since the body starts with its total length.
 */
export class ProtobufList {
  private readonly pages: Uint8Array[] = [];
  private length = 0;

  constructor(private readonly item: KindType) {}

  add(objects: readonly unknown[]): void {
    if (objects.length > 0) this.push(protobufCodec().encodeProtobuf(listTypeOf(this.item), { items: objects }));
  }

  /** The body in pieces, in order. */
  finish(identity: Required<TypedValue>, listMeta: StructType, metadata: unknown): Uint8Array[] {
    const { encodeProtobuf, encodeEnvelopeHead } = protobufCodec();
    const message = encodeProtobuf(metadataHolder(listMeta), { metadata });
    const head = encodeEnvelopeHead(identity.apiVersion, identity.kind, this.length + message.length);
    return [head, message, ...this.pages];
  }

  private push(page: Uint8Array): void {
    this.pages.push(page);
    this.length += page.length;
  }
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
