import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  type CborShape,
  cborShapeOf,
  encodeCbor,
  encodeCborHead,
  selfDescribed,
  shapeAt,
} from '../../../base/machinery/cbor/index.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { notAcceptableError } from '../../../base/machinery/status-error.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import type { EndpointServices } from '../endpoint-services.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import { formTypeName, listKind } from '../negotiation/answer-form.js';
import { ByteRanges } from '../negotiation/byte-ranges.js';
import { cborShape } from '../negotiation/cbor-answer.js';
import type { IncludeObject } from '../negotiation/include-object.js';
import {
  type ItemForm,
  itemForm,
  listItem,
  metadataItem,
  type ParseCounter,
  shownItem,
} from '../negotiation/item-form.js';
import { ProtobufList } from '../negotiation/protobuf-answer.js';
import { encodeValue, sendBytes, sendPieces, servedObject, shownType } from '../negotiation/respond.js';
import { RunBytes } from '../negotiation/run-bytes.js';
import { writeTableRow } from '../negotiation/table-row.js';
import { includeObjectOf, type ListMetadata, partialMetadata, tableOf } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';

/** Collects the objects of a list that can't be sent as stored text, page by page. */
export interface ListWriter {
  add(objects: readonly ApiObject[]): void;
  /**
   * Adds a stored object, whose encoded form may be cached in `forms`. Returns the amount of work, as the number of
   * characters that take about as long to parse.
   */
  addStored(item: StoredObject, forms: KeptForms | undefined): number;
  /** Sends all objects that were added. */
  send(metadata: ListMetadata): Promise<void>;
}

/** The writer for the accepted form; throws a 406 for a form that lists don't have. */
export function listWriter(request: ResourceRequest, accepted: AcceptedType): ListWriter {
  if (accepted.as === 'PartialObjectMetadata') {
    const message = `you requested PartialObjectMetadata, but the requested object is a list (${formTypeName(request.resource, true)})`;
    throw Object.assign(notAcceptableError(), { message, details: undefined });
  }
  if (isWrittenWhole(request.context, accepted)) return new ValueListWriter(request, accepted);
  switch (accepted.mediaType) {
    case 'protobuf':
      return new ProtobufListWriter(request, accepted);
    case 'cbor':
      return new CborListWriter(request, accepted);
    default:
      return new JsonListWriter(request, accepted);
  }
}

/** Writes JSON, including tables. Objects are serialized as they arrive, so no large value is built at once. */
class JsonListWriter implements ListWriter {
  /** Each item begins with a comma. */
  private readonly items = new ByteRanges();
  private readonly row = new RunBytes();
  private readonly include: IncludeObject;
  private readonly form: ItemForm | undefined;

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {
    const { services, resource, context } = request;
    this.include = accepted.as === 'Table' ? includeObjectOf(context.query) : 'Metadata';
    this.form = accepted.as === 'Table' ? undefined : itemForm(services, resource, accepted);
  }

  add(objects: readonly ApiObject[]): void {
    if (objects.length === 0) return;
    const { items } = listParts(this.request, this.accepted, objects, {});
    this.items.copyText(`,${JSON.stringify(items).slice(1, -1)}`);
  }

  addStored(item: StoredObject, forms: KeptForms | undefined): number {
    const { form } = this;
    const { resource } = this.request;
    const work = { characters: 0 };
    const text = this.metadata(item, work);
    if (text !== undefined) this.items.copyText(text);
    else if (this.addRow(item, forms, work)) return work.characters;
    else if (form !== undefined) this.items.add(shownItem(resource, form, item, forms, work));
    else {
      this.add([servedObject(resource, item)]);
      work.characters += item.json.length;
    }
    return work.characters;
  }

  /** Adds the row of a table, if it can be made without parsing the stored JSON. */
  private addRow(item: StoredObject, forms: KeptForms | undefined, work: ParseCounter): boolean {
    const { services, resource } = this.request;
    const { as, asVersion = 'v1' } = this.accepted;
    if (as !== 'Table' || !resource.isStored) return false;
    const table = { version: asVersion, include: this.include };
    this.row.clear();
    this.row.copyText(',');
    if (!writeTableRow(services, resource, item, table, forms, work, this.row)) return false;
    this.items.copy(this.row.view(0, this.row.length));
    return true;
  }

  /** The metadata of an item after a comma, if they can be made without parsing the stored JSON. */
  private metadata(item: StoredObject, work: ParseCounter): string | undefined {
    const { services, resource } = this.request;
    const { as, asVersion = 'v1' } = this.accepted;
    return as === undefined || as === 'Table' ? undefined : metadataItem(services, resource, item, asVersion, work);
  }

  async send(metadata: ListMetadata): Promise<void> {
    const { value } = listParts(this.request, this.accepted, [], metadata);
    // The list of items is the last member, and still empty.
    const head = JSON.stringify(value).slice(0, -2);
    const { items } = this;
    const { audit } = this.request.context;
    if (audit?.wantsResponseObject === true) {
      audit.answeredPiece(200, head);
      // Pieces end between items, so never within a character.
      for (const piece of items.pieces(1)) audit.answeredPiece(200, piece.toString());
      audit.answeredPiece(200, ']}');
      audit.answeredAll();
    }
    async function* body(): AsyncGenerator<string | Uint8Array> {
      yield head;
      yield* inTurns(items.pieces(1));
      yield ']}\n';
    }
    await sendPieces(this.request, 200, this.accepted.contentType, body());
  }
}

/** Writes indented JSON and YAML, from one value that contains all objects. */
class ValueListWriter implements ListWriter {
  private readonly objects: ApiObject[] = [];

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {}

  add(objects: readonly ApiObject[]): void {
    for (const object of objects) this.objects.push(object);
  }

  addStored(item: StoredObject): number {
    this.objects.push(servedObject(this.request.resource, item));
    return item.json.length;
  }

  async send(metadata: ListMetadata): Promise<void> {
    const { request, accepted } = this;
    const { value } = listParts(request, accepted, this.objects, metadata);
    request.context.audit?.answered(200, value);
    const bytes = encodeValue(value, accepted, request.resource.served.type, isPretty(request.context, accepted));
    sendBytes(request, 200, accepted.contentType, bytes);
  }
}

function isPretty(context: RequestContext, accepted: AcceptedType): boolean {
  return accepted.pretty || wantsPretty(context.query, context.userAgent);
}

/** Whether a list is serialized as one value, whatever its length. */
export function isWrittenWhole(context: RequestContext, accepted: AcceptedType): boolean {
  return accepted.mediaType === 'yaml' || (accepted.mediaType === 'json' && isPretty(context, accepted));
}

/** The value of a list (except in protobuf), and the array at its end. */
export function listParts(
  { services, context, resource }: ResourceRequest,
  accepted: AcceptedType,
  objects: readonly ApiObject[],
  metadata: ListMetadata,
): { readonly value: unknown; readonly items: readonly unknown[] } {
  const version = accepted.asVersion ?? 'v1';
  if (accepted.as === 'Table') {
    const include = includeObjectOf(context.query);
    const table = tableOf(services, resource, objects, metadata, { version, include }) as { rows: unknown[] };
    return { value: table, items: table.rows };
  }
  const items =
    accepted.as === undefined
      ? objects.map(listItem(resource))
      : objects.map((object) => partialMetadata(services.names, object, version));
  return { value: { ...listIdentity(services, resource, accepted), metadata, items }, items };
}

/** Writes protobuf. Each page is encoded as it arrives, so that objects don't accumulate. */
class ProtobufListWriter implements ListWriter {
  private readonly notes: ListNotes;
  private readonly list: ProtobufList;
  private readonly form: ItemForm;

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {
    const { services, resource } = request;
    this.notes = new ListNotes(request, accepted);
    this.list = new ProtobufList(shownType(services, resource, accepted));
    this.form = itemForm(services, resource, accepted);
  }

  add(objects: readonly ApiObject[]): void {
    this.list.add(objects);
    if (this.notes.isWanted) this.notes.add(objects);
  }

  addStored(item: StoredObject, forms: KeptForms | undefined): number {
    const { resource } = this.request;
    if (this.notes.isWanted) {
      this.add([servedObject(resource, item)]);
      return item.json.length;
    }
    const work = { characters: 0 };
    this.list.addItem(shownItem(resource, this.form, item, forms, work));
    return work.characters;
  }

  async send(metadata: ListMetadata): Promise<void> {
    const { accepted } = this;
    const { services, resource } = this.request;
    const identity = listIdentity(services, resource, accepted);
    this.notes.end(metadata);
    const chunks = this.list.finish(identity, services.kinds.listMeta, metadata);
    await sendPieces(this.request, 200, accepted.contentType, inTurns(chunks));
  }
}

/** Writes CBOR, including tables. Each object is encoded as it arrives. */
class CborListWriter implements ListWriter {
  private readonly notes: ListNotes;
  private readonly items = new ByteRanges();
  private readonly include: IncludeObject;
  private readonly shape: CborShape | undefined;
  /** Undefined for tables, of which only the cells are kept. */
  private readonly form: ItemForm | undefined;
  private count = 0;

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {
    const { services, resource, context } = request;
    const isTable = accepted.as === 'Table';
    this.notes = new ListNotes(request, accepted);
    this.include = isTable ? includeObjectOf(context.query) : 'Metadata';
    const type = shownType(services, resource, accepted);
    this.shape = isTable ? shapeAt('object', cborShapeOf(type)) : cborShape(type, accepted);
    this.form = isTable ? undefined : itemForm(services, resource, accepted);
  }

  add(objects: readonly ApiObject[]): void {
    const { items } = listParts(this.request, this.accepted, objects, {});
    for (const item of items) this.addItem(item);
    if (this.notes.isWanted) this.notes.add(objects);
  }

  addStored(item: StoredObject, forms: KeptForms | undefined): number {
    const { form } = this;
    const { resource } = this.request;
    const work = { characters: 0 };
    const row = form === undefined && !this.notes.isWanted ? this.rowText(item, forms, work) : undefined;
    if (row !== undefined) this.addItem(parseJson(row));
    else if (form !== undefined && !this.notes.isWanted) {
      this.items.add(shownItem(resource, form, item, forms, work));
      this.count++;
    } else {
      this.add([servedObject(resource, item)]);
      work.characters += item.json.length;
    }
    return work.characters;
  }

  /** The row of a table, if it can be made without parsing the stored JSON. */
  private rowText(item: StoredObject, forms: KeptForms | undefined, work: ParseCounter): string | undefined {
    const { services, resource } = this.request;
    const { asVersion = 'v1' } = this.accepted;
    const table = { version: asVersion, include: this.include };
    const row = new RunBytes();
    if (!writeTableRow(services, resource, item, table, forms, work, row)) return undefined;
    work.characters += row.length;
    return row.view(0, row.length).toString();
  }

  private addItem(value: unknown): void {
    this.items.copy(encodeCbor(value, this.shape));
    this.count++;
  }

  async send(metadata: ListMetadata): Promise<void> {
    const { items, count } = this;
    const { value } = listParts(this.request, this.accepted, [], metadata);
    this.notes.end(metadata);
    // The list of items is the last member, and still empty: an empty array consists of its head only.
    const whole = encodeCbor(value);
    const head = Buffer.concat([selfDescribed, whole.subarray(0, -1), encodeCborHead('array', count)]);
    async function* body(): AsyncGenerator<Uint8Array> {
      yield head;
      yield* inTurns(items.pieces());
    }
    await sendPieces(this.request, 200, this.accepted.contentType, body());
  }
}

/**
 * Reports the objects of a list to the audit trail. The trail contains JSON, whatever was sent, with the metadata at
 * its end.
 */
class ListNotes {
  private isBegun = false;

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {}

  get isWanted(): boolean {
    return this.request.context.audit?.wantsResponseObject === true;
  }

  add(objects: readonly ApiObject[]): void {
    const { audit } = this.request.context;
    if (objects.length === 0) return;
    const { value, items } = listParts(this.request, this.accepted, objects, {});
    const text = JSON.stringify(items).slice(1, -1);
    const { metadata: _metadata, items: _items, rows: _rows, ...head } = value as Record<string, unknown>;
    const list = this.accepted.as === 'Table' ? 'rows' : 'items';
    audit?.answeredPiece(200, this.isBegun ? `,${text}` : `${JSON.stringify(head).slice(0, -1)},"${list}":[${text}`);
    this.isBegun = true;
  }

  end(metadata: ListMetadata): void {
    const { audit } = this.request.context;
    if (audit?.wantsResponseObject !== true) return;
    if (this.isBegun) {
      audit.answeredPiece(200, `],"metadata":${JSON.stringify(metadata)}}`);
      audit.answeredAll();
    } else audit.answered(200, listParts(this.request, this.accepted, [], metadata).value);
  }
}

async function* inTurns<T>(pieces: Iterable<T>): AsyncGenerator<T> {
  for (const piece of pieces) {
    yield piece;
    await longPieces.turn();
  }
}

export function listIdentity(
  services: EndpointServices,
  resource: ServedResource,
  accepted: AcceptedType,
): { kind: string; apiVersion: string } {
  if (accepted.as === undefined) return { kind: listKind(resource.definition), apiVersion: resource.apiVersion };
  const apiVersion = `meta.${services.names.suffix}/${accepted.asVersion ?? 'v1'}`;
  return { kind: 'PartialObjectMetadataList', apiVersion };
}
