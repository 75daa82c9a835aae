import { Readable } from 'node:stream';
import type { ApiObject } from '../../machinery/api-object.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { notAcceptableError } from '../../machinery/status-error.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import { ProtobufList } from '../negotiation/protobuf-answer.js';
import { encodeValue, sendBytes, sendPieces, shownType } from '../negotiation/respond.js';
import { includeObjectOf, type ListMetadata, partialMetadata, tableOf } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';
import type { EndpointServices } from '../services.js';

/** Collects the objects of a list that can't be sent as stored text, page by page. */
export interface ListWriter {
  add(objects: readonly ApiObject[]): void;
  /** Sends all objects that were added. */
  send(metadata: ListMetadata): Promise<void>;
}

/** The kind of a list of the resource's objects. */
export function listKind({ definition }: ServedResource): string {
  return definition.listKind ?? `${definition.kind}List`;
}

/** The writer for the accepted form; throws a 406 for a form that lists don't have. */
export function listWriter(request: ResourceRequest, accepted: AcceptedType): ListWriter {
  if (accepted.as === 'PartialObjectMetadata') {
    const message = `you requested PartialObjectMetadata, but the requested object is a list (${listKind(request.resource)})`;
    throw Object.assign(notAcceptableError(), { message, details: undefined });
  }
  if (isWrittenWhole(request.context, accepted)) return new ValueListWriter(request, accepted);
  const writer = accepted.mediaType === 'protobuf' ? ProtobufListWriter : JsonListWriter;
  return new writer(request, accepted);
}

/** Writes JSON, including tables. Objects are serialized as they arrive, so no large value is built at once. */
class JsonListWriter implements ListWriter {
  private readonly pieces: string[] = [];

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {}

  add(objects: readonly ApiObject[]): void {
    if (objects.length === 0) return;
    const { items } = listParts(this.request, this.accepted, objects, {});
    this.pieces.push(JSON.stringify(items).slice(1, -1));
  }

  async send(metadata: ListMetadata): Promise<void> {
    const { value } = listParts(this.request, this.accepted, [], metadata);
    // The list is the last member, and empty.
    const head = JSON.stringify(value).slice(0, -2);
    const { pieces } = this;
    const { audit } = this.request.context;
    if (audit?.wantsResponseObject === true) {
      audit.answeredPiece(200, head);
      for (const [i, piece] of pieces.entries()) audit.answeredPiece(200, i === 0 ? piece : `,${piece}`);
      audit.answeredPiece(200, ']}');
    }
    async function* body(): AsyncGenerator<string> {
      yield head;
      for (let i = 0; i < pieces.length; i++) yield i === 0 ? (pieces[i] as string) : `,${pieces[i]}`;
      yield ']}';
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
function listParts(
  { services, context, resource }: ResourceRequest,
  accepted: AcceptedType,
  objects: readonly ApiObject[],
  metadata: ListMetadata,
): { readonly value: unknown; readonly items: readonly unknown[] } {
  const version = accepted.asVersion ?? 'v1';
  if (accepted.as === 'Table') {
    const include = includeObjectOf(context.query);
    const table = tableOf(services, resource, objects, metadata, version, include) as { rows: unknown[] };
    return { value: table, items: table.rows };
  }
  const items =
    accepted.as === undefined
      ? objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item)
      : objects.map((object) => partialMetadata(services.names, object, version));
  return { value: { ...listIdentity(services, resource, accepted), metadata, items }, items };
}

/** Writes protobuf. Each page is encoded as it arrives, so objects don't accumulate. */
class ProtobufListWriter implements ListWriter {
  private isNoted = false;
  private readonly list: ProtobufList;

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {
    this.list = new ProtobufList(shownType(request.services, request.resource, accepted));
  }

  add(objects: readonly ApiObject[]): void {
    this.list.add(objects);
    if (this.request.context.audit?.wantsResponseObject === true) this.note(objects);
  }

  async send(metadata: ListMetadata): Promise<void> {
    const { accepted } = this;
    const { services, resource } = this.request;
    const identity = listIdentity(services, resource, accepted);
    this.noteEnd(metadata);
    const chunks = this.list.finish(identity, services.kinds.listMeta, metadata);
    await sendPieces(this.request, 200, accepted.contentType, Readable.from(chunks));
  }

  /** The audit trail shows JSON, whatever was sent. Its list has the metadata at its end. */
  private note(objects: readonly ApiObject[]): void {
    const { audit } = this.request.context;
    if (objects.length === 0) return;
    const { value, items } = listParts(this.request, this.accepted, objects, {});
    const text = JSON.stringify(items).slice(1, -1);
    const { kind, apiVersion } = value as { kind: string; apiVersion: string };
    audit?.answeredPiece(
      200,
      this.isNoted ? `,${text}` : `${JSON.stringify({ kind, apiVersion }).slice(0, -1)},"items":[${text}`,
    );
    this.isNoted = true;
  }

  private noteEnd(metadata: ListMetadata): void {
    const { audit } = this.request.context;
    if (audit?.wantsResponseObject !== true) return;
    if (this.isNoted) audit.answeredPiece(200, `],"metadata":${JSON.stringify(metadata)}}`);
    else audit.answered(200, listParts(this.request, this.accepted, [], metadata).value);
  }
}

function listIdentity(
  services: EndpointServices,
  resource: ServedResource,
  accepted: AcceptedType,
): { kind: string; apiVersion: string } {
  if (accepted.as === undefined) return { kind: listKind(resource), apiVersion: resource.apiVersion };
  const apiVersion = `meta.${services.names.suffix}/${accepted.asVersion ?? 'v1'}`;
  return { kind: 'PartialObjectMetadataList', apiVersion };
}
