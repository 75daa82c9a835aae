import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type ScalarTag, stringify, type Tags } from 'yaml';
import type { ApiObject } from '../../machinery/api-object.js';
import { ExactNumber } from '../../machinery/json/exact-numbers.js';
import type { RequestContext } from '../../machinery/request-context.js';
import type { KindType } from '../../machinery/schema/index.js';
import { notAcceptableError } from '../../machinery/status-error.js';
import { parseText, spliceVersion, storedForm, toServed, type VersionedText } from '../../registry/object-codec.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { EndpointServices } from '../services.js';
import { type AcceptedType, wantsPretty } from './accept.js';
import { protobufBody, type TypedValue } from './protobuf-answer.js';
import { includeObjectOf, partialMetadata, tableOf } from './transform.js';

/** Whether stored text can be sent as it is: plain JSON of the stored version, not indented. */
export function sendsStoredText(accepted: AcceptedType, resource: ServedResource, pretty: boolean): boolean {
  return accepted.mediaType === 'json' && accepted.as === undefined && resource.isStored && !pretty;
}

/** Parses stored text into the object that the served version shows. */
export function servedObject(resource: ServedResource, text: VersionedText): ApiObject {
  const object = parseText(resource, text.json);
  if (text.resourceVersion !== undefined) {
    object.metadata = { ...object.metadata, resourceVersion: String(text.resourceVersion) };
  }
  return toServed(resource, object);
}

/** Answers with one object in the accepted form. */
export function sendObject(
  services: EndpointServices,
  context: RequestContext,
  reply: FastifyReply,
  code: number,
  resource: ServedResource,
  text: VersionedText,
  accepted: AcceptedType,
): void {
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (sendsStoredText(accepted, resource, pretty)) {
    sendText(context, reply, code, 'application/json', spliceVersion(text, storedForm(resource)));
    return;
  }
  const value = transformObject(services, context, resource, servedObject(resource, text), accepted);
  sendValue(context, reply, code, value, accepted, shownType(services, resource, accepted));
}

/** The declaration of what one object of a resource is shown as. */
export function shownType(services: EndpointServices, resource: ServedResource, accepted: AcceptedType): KindType {
  return accepted.as === undefined ? resource.served.type : services.kinds.partialObjectMetadata;
}

function transformObject(
  services: EndpointServices,
  context: RequestContext,
  resource: ServedResource,
  object: ApiObject,
  accepted: AcceptedType,
): unknown {
  const version = accepted.asVersion ?? 'v1';
  switch (accepted.as) {
    case undefined:
      return object;
    case 'PartialObjectMetadata':
      return partialMetadata(services.names, object, version);
    case 'PartialObjectMetadataList': {
      const message = `you requested PartialObjectMetadataList, but the requested object is not a list (${resource.definition.kind})`;
      throw Object.assign(notAcceptableError(), { message, details: undefined });
    }
    case 'Table': {
      const include = includeObjectOf(context.query);
      const listMeta = { resourceVersion: object.metadata.resourceVersion ?? '' };
      return tableOf(services, resource.definition, [object], listMeta, version, include);
    }
  }
}

/**
 * Answers with a plain value.
 *
 * @param type declaration of the value, for protobuf
 */
export function sendValue(
  context: RequestContext,
  reply: FastifyReply,
  code: number,
  value: unknown,
  accepted: AcceptedType,
  type: KindType,
): void {
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (accepted.mediaType === 'json' && !pretty) {
    sendText(context, reply, code, accepted.contentType, JSON.stringify(value));
    return;
  }
  sendBytes(context, reply, code, accepted.contentType, encodeValue(value, accepted, type, pretty));
}

/** Numbers that keep their spelling; bigints the library knows itself. */
const exactNumberTag: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

const yamlOptions = { lineWidth: 0, customTags: (tags: Tags) => [...tags, exactNumberTag] };

/** Bytes of a plain value in the accepted form. */
export function encodeValue(value: unknown, accepted: AcceptedType, type: KindType, pretty: boolean): Buffer {
  switch (accepted.mediaType) {
    case 'json':
      return Buffer.from(pretty ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value));
    case 'yaml':
      return Buffer.from(stringify(value, yamlOptions));
    case 'protobuf':
      return protobufBody(type, value as TypedValue);
  }
}

/** Answers with ready text; adds the headers that every answer of the API has. */
export function sendText(
  context: RequestContext,
  reply: FastifyReply,
  code: number,
  contentType: string,
  text: string,
): void {
  // A time-out may have answered already.
  if (reply.sent) return;
  setCommonHeaders(context, reply);
  // Past Fastify's serializing: it would add a charset that JSON does not have (RFC 8259 section 11), and Node sends a
  // string in one write with its headers, but bytes in a second one.
  const headers = reply.getHeaders();
  reply.hijack();
  headers['content-type'] = contentType;
  headers['content-length'] = Buffer.byteLength(text);
  reply.raw.writeHead(code, headers as OutgoingHttpHeaders);
  reply.raw.end(text);
}

/** The same with ready bytes. */
export function sendBytes(
  context: RequestContext,
  reply: FastifyReply,
  code: number,
  contentType: string,
  bytes: Buffer,
): void {
  if (reply.sent) return;
  setCommonHeaders(context, reply);
  reply.code(code).header('content-type', contentType).send(bytes);
}

/** Caching is never allowed; warnings go in headers (RFC 7234 section 5.5). */
export function setCommonHeaders(context: RequestContext, reply: FastifyReply): void {
  reply.header('cache-control', 'no-cache, private');
  if (context.warnings.length > 0) reply.header('warning', context.warnings.map(formatWarning));
}

/** `299 - "<text>"`, quoted as the header needs it and without characters that a header can't carry. */
export function formatWarning(text: string): string {
  const safe = text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
  return `299 - "${safe}"`;
}
