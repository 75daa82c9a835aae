import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ApiObject } from '../../machinery/api-object.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { notAcceptableError } from '../../machinery/status-error.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import { ProtobufList } from '../negotiation/protobuf-answer.js';
import { encodeValue, sendBytes, sendPieces, shownType } from '../negotiation/respond.js';
import { includeObjectOf, type ListMetadata, partialMetadata, tableOf } from '../negotiation/transform.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';

/** Collects the objects of a list answer that is not stored text, page by page. */
export interface ListWriter {
  add(objects: readonly ApiObject[]): void;
  /** Answers with everything that was added. */
  send(metadata: ListMetadata, reply: FastifyReply): Promise<void>;
}

/** Kind of the list of a resource's objects. */
export function listKind(scope: RequestScope): string {
  return `${scope.resource.definition.kind}List`;
}

/** The writer for the accepted form; 406 for a form that a list can't have. */
export function listWriter(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  accepted: AcceptedType,
): ListWriter {
  if (accepted.as === 'PartialObjectMetadata') {
    const message = `you requested PartialObjectMetadata, but the requested object is a list (${listKind(scope)})`;
    throw Object.assign(notAcceptableError(), { message, details: undefined });
  }
  const writer = accepted.mediaType === 'protobuf' ? ProtobufListWriter : ValueListWriter;
  return new writer(services, context, scope, accepted);
}

/** JSON, YAML and tables: one value made of all objects. */
class ValueListWriter implements ListWriter {
  private readonly objects: ApiObject[] = [];

  constructor(
    private readonly services: EndpointServices,
    private readonly context: RequestContext,
    private readonly scope: RequestScope,
    private readonly accepted: AcceptedType,
  ) {}

  add(objects: readonly ApiObject[]): void {
    for (const object of objects) this.objects.push(object);
  }

  async send(metadata: ListMetadata, reply: FastifyReply): Promise<void> {
    const { context, scope, accepted } = this;
    const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
    const bytes = encodeValue(this.value(metadata), accepted, scope.resource.served.type, pretty);
    sendBytes(context, reply, 200, accepted.contentType, bytes);
  }

  private value(metadata: ListMetadata): unknown {
    const { services, scope, objects, accepted } = this;
    const version = accepted.asVersion ?? 'v1';
    if (accepted.as === 'Table') {
      const include = includeObjectOf(this.context.query);
      return tableOf(services, scope.resource, objects, metadata, version, include);
    }
    const items =
      accepted.as === undefined
        ? objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item)
        : objects.map((object) => partialMetadata(services.names, object, version));
    return { ...listIdentity(services, scope, accepted), metadata, items };
  }
}

/** Protobuf: each page is encoded when it comes, so that no objects pile up. */
class ProtobufListWriter implements ListWriter {
  private readonly list: ProtobufList;

  constructor(
    private readonly services: EndpointServices,
    private readonly context: RequestContext,
    private readonly scope: RequestScope,
    private readonly accepted: AcceptedType,
  ) {
    this.list = new ProtobufList(shownType(services, scope.resource, accepted));
  }

  add(objects: readonly ApiObject[]): void {
    this.list.add(objects);
  }

  async send(metadata: ListMetadata, reply: FastifyReply): Promise<void> {
    const { services, scope, accepted } = this;
    const identity = listIdentity(services, scope, accepted);
    const chunks = this.list.finish(identity, services.kinds.listMeta, metadata);
    await sendPieces(this.context, reply, 200, accepted.contentType, Readable.from(chunks));
  }
}

function listIdentity(
  services: EndpointServices,
  scope: RequestScope,
  accepted: AcceptedType,
): { kind: string; apiVersion: string } {
  if (accepted.as === undefined) return { kind: listKind(scope), apiVersion: scope.resource.apiVersion };
  const apiVersion = `meta.${services.names.suffix}/${accepted.asVersion ?? 'v1'}`;
  return { kind: 'PartialObjectMetadataList', apiVersion };
}
