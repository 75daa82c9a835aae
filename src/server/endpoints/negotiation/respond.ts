import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { defaultColumns } from '../../../objects/registry/definition/default-columns.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import {
  parseStored,
  parseText,
  spliceVersion,
  storedForm,
  toServed,
  type VersionedText,
} from '../../../objects/registry/store/object-codec.js';
import { convertedTexts } from '../../../objects/registry/store/remote-conversion.js';
import type { ViewSubresource } from '../../../objects/registry/subresource-definition.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { ResourceRequest } from '../resource-request.js';
import { wasSent } from '../response-writer.js';
import { type AcceptedType, wantsPretty } from './accept.js';
import { answerBlocks } from './answer-blocks.js';
import { cborBody, cborShape } from './cbor-answer.js';
import { compress, compressionThresholdBytes, wantsGzip, writePieces } from './compression.js';
import { protobufBody, type TypedValue } from './protobuf-answer.js';
import { includeObjectOf, partialMetadata, tableOf, viewTable } from './transform.js';
import { yamlText } from './yaml-text.js';

/** The destination of a response. */
export interface Recipient {
  readonly context: RequestContext;
  readonly reply: FastifyReply;
}

/** Whether stored text can be sent unchanged: plain JSON in the stored version, without indentation. */
export function sendsStoredText(accepted: AcceptedType, resource: ServedResource, pretty: boolean): boolean {
  return accepted.mediaType === 'json' && accepted.as === undefined && resource.isStored && !pretty;
}

/** Parses stored text into an object of the served version. */
export function servedObject(resource: ServedResource, text: VersionedText): ApiObject {
  const object = parseText(resource, text.json);
  if (text.resourceVersion !== undefined) {
    object.metadata = { ...object.metadata, resourceVersion: String(text.resourceVersion) };
  }
  return toServed(resource, object);
}

/**
 * Sends one object as the path shows it, in the form from `negotiateObject`. Returns a promise only if a conversion
 * webhook is involved.
 */
export function sendObject(
  request: ResourceRequest,
  code: number,
  text: VersionedText,
  accepted: AcceptedType,
): void | Promise<void> {
  const { resource, context } = request;
  // After a write, the request must not be repeated elsewhere.
  const asking = request.verb === 'get' ? context : { signal: context.signal };
  const converting = convertedTexts(resource, [text], asking);
  if (converting === undefined) return sendShown(request, code, text, accepted);
  return converting.then(([converted]) => sendShown(request, code, converted as VersionedText, accepted));
}

function sendShown(request: ResourceRequest, code: number, text: VersionedText, accepted: AcceptedType): void {
  const { services, context, resource, subresource } = request;
  if (subresource?.type === 'view') {
    const { json, resourceVersion = 0n } = text;
    const parent = parseStored(resource, { json, resourceVersion });
    subresource.checkShown?.(parent);
    const value = transformView(request, subresource, subresource.read(parent), accepted);
    const type = accepted.as === 'PartialObjectMetadata' ? services.kinds.partialObjectMetadata : request.type;
    sendValue(request, code, value, accepted, type);
    return;
  }
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (sendsStoredText(accepted, resource, pretty)) {
    const json = spliceVersion(text, storedForm(resource));
    context.audit?.answeredText(code, json);
    sendText(request, code, 'application/json', `${json}\n`);
    return;
  }
  const value = transformObject(request, servedObject(resource, text), accepted);
  sendValue(request, code, value, accepted, shownType(services, resource, accepted));
}

/** Sends the result of a create on a virtual kind or subresource: an object of the sent kind, or a Status. */
export function sendAnswer(request: ResourceRequest, answer: ApiObject, accepted: AcceptedType): void {
  const { kinds, names } = request.services;
  if (answer.kind === 'Status') sendValue(request, 201, answer, accepted, kinds.status);
  else if (accepted.as === undefined) sendValue(request, 201, answer, accepted, request.type);
  else {
    const shown = partialMetadata(names, answer, accepted.asVersion ?? 'v1');
    sendValue(request, 201, shown, accepted, kinds.partialObjectMetadata);
  }
}

/** The declaration of the form in which one object of a resource is shown; for a table, of the objects in it. */
export function shownType(services: EndpointServices, resource: ServedResource, accepted: AcceptedType): KindType {
  const isWhole = accepted.as === undefined || accepted.as === 'Table';
  return isWhole ? resource.served.type : services.kinds.partialObjectMetadata;
}

function transformView(
  { services, context }: ResourceRequest,
  { columns = defaultColumns }: ViewSubresource,
  shown: ApiObject,
  accepted: AcceptedType,
): unknown {
  const version = accepted.asVersion ?? 'v1';
  if (accepted.as === undefined) return shown;
  if (accepted.as !== 'Table') return partialMetadata(services.names, shown, version);
  return viewTable(services, columns, shown, { version, include: includeObjectOf(context.query) });
}

function transformObject(
  { services, context, resource }: ResourceRequest,
  object: ApiObject,
  accepted: AcceptedType,
): unknown {
  const version = accepted.asVersion ?? 'v1';
  switch (accepted.as) {
    case undefined:
      return object;
    case 'PartialObjectMetadata':
    // Never reached for one object: negotiateObject refuses it.
    case 'PartialObjectMetadataList':
      return partialMetadata(services.names, object, version);
    case 'Table': {
      const include = includeObjectOf(context.query);
      const listMeta = { resourceVersion: object.metadata.resourceVersion ?? '' };
      return tableOf(services, resource, [object], listMeta, { version, include });
    }
  }
}

/**
 * Sends a plain value.
 *
 * @param type declaration of the value, for protobuf and CBOR
 */
export function sendValue(to: Recipient, code: number, value: unknown, accepted: AcceptedType, type: KindType): void {
  const { context } = to;
  context.audit?.answered(code, value);
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (accepted.mediaType === 'json' && !pretty) {
    sendText(to, code, accepted.contentType, `${JSON.stringify(value)}\n`);
    return;
  }
  sendBytes(to, code, accepted.contentType, encodeValue(value, accepted, type, pretty));
}

/** Encodes a plain value in the accepted form. JSON ends with a newline unless it is indented, as in the reference. */
export function encodeValue(value: unknown, accepted: AcceptedType, type: KindType, pretty: boolean): Buffer {
  switch (accepted.mediaType) {
    case 'json':
      return Buffer.from(pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`);
    case 'yaml':
      return Buffer.from(yamlText(value));
    case 'protobuf':
      return protobufBody(type, value as TypedValue);
    case 'cbor':
      return cborBody(value, cborShape(type, accepted));
  }
}

/**
 * Sends a complete body with the headers of every API response. Long responses to reads are compressed if the client
 * accepts it.
 */
export function sendText(to: Recipient, code: number, contentType: string, text: string): void {
  // Only long bodies are measured, since a character takes at most three bytes.
  if (text.length > compressionThresholdBytes / 3 && Buffer.byteLength(text) > compressionThresholdBytes) {
    sendLong(to, code, contentType, text);
    return;
  }
  const { context, reply } = to;
  // The request may have timed out and got its response already.
  if (reply.sent) return;
  const headers = takeOver(context, reply, contentType);
  // Node sends a string in one write with its headers, but bytes in a second write.
  headers['content-length'] = Buffer.byteLength(text);
  reply.raw.writeHead(code, headers);
  reply.raw.end(text);
}

/** Like {@link sendText}, for bytes. */
export function sendBytes(to: Recipient, code: number, contentType: string, bytes: Uint8Array): void {
  if (bytes.length > compressionThresholdBytes) {
    sendLong(to, code, contentType, bytes);
    return;
  }
  const { context, reply } = to;
  if (reply.sent) return;
  const headers = takeOver(context, reply, contentType);
  headers['content-length'] = bytes.length;
  reply.raw.writeHead(code, headers);
  reply.raw.end(bytes);
}

/**
 * Sends a complete body above the threshold. A HEAD gets all headers except the length of a compressed body, which is
 * not created for it.
 */
function sendLong({ context, reply }: Recipient, code: number, contentType: string, body: string | Uint8Array): void {
  if (reply.sent) return;
  const isCompressed = code === 200 && wantsGzip(reply);
  const headers = takeOver(context, reply, contentType);
  withVary(headers);
  if (!isCompressed) {
    headers['content-length'] = Buffer.byteLength(body);
    reply.raw.writeHead(code, headers);
    reply.raw.end(body);
    return;
  }
  headers['content-encoding'] = 'gzip';
  if (reply.request.method === 'HEAD') {
    reply.raw.writeHead(code, headers);
    reply.raw.end();
    return;
  }
  compress(body)
    .then((bytes) => {
      // The request may have timed out and been cut meanwhile.
      if (reply.raw.headersSent) return;
      headers['content-length'] = bytes.length;
      reply.raw.writeHead(code, headers);
      reply.raw.end(bytes);
    })
    .catch(() => reply.raw.destroy());
}

/** Sends a complete body of several pieces, and gives their {@link answerBlocks} back. */
export function sendBlocks(to: Recipient, code: number, contentType: string, pieces: readonly Buffer[]): void {
  const { context, reply } = to;
  if (reply.sent) return;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > compressionThresholdBytes && wantsGzip(reply)) {
    sendLong(to, code, contentType, Buffer.concat(pieces));
    for (const piece of pieces) answerBlocks.giveBack(piece);
    return;
  }
  const headers = takeOver(context, reply, contentType);
  if (length > compressionThresholdBytes) withVary(headers);
  headers['content-length'] = length;
  reply.raw.writeHead(code, headers);
  if (reply.request.method === 'HEAD') {
    reply.raw.end();
    return;
  }
  // Recorded here: when the response ends, its bytes would otherwise not count as unread.
  reply.request.plinthContext?.unread?.add(reply.raw, length);
  // An audited response may have to wait for its event, so its last piece is sent only by `end`.
  const last = context.audit === undefined ? undefined : pieces.at(-1);
  for (const piece of pieces) {
    if (piece === last) continue;
    reply.raw.write(piece, (error: unknown) => {
      if (wasSent(reply.raw, error)) answerBlocks.giveBack(piece);
    });
  }
  reply.raw.end(last);
}

/**
 * Sends a body of unknown length in pieces, at the pace of the client: the next piece is requested only when the
 * previous one is being sent. A short body is sent at once with its length; a long one is compressed if the client
 * accepts it. An error of `pieces` before anything was sent is rethrown and becomes an error response. Later the
 * connection (or stream) is cut, which shows the client that the body is incomplete. `pieces` is always ended, even if
 * the client leaves.
 */
export async function sendPieces(
  to: Recipient,
  code: number,
  contentType: string,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const { context, reply } = to;
  const iterator = pieces[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  let length = 0;
  let done = false;
  try {
    while (!done && length <= compressionThresholdBytes) {
      const next = await iterator.next();
      if (next.done === true) done = true;
      else {
        const bytes = bytesOf(next.value);
        begun.push(bytes);
        length += bytes.length;
      }
    }
    if (done) {
      const all = Buffer.concat(begun);
      for (const piece of begun) answerBlocks.giveBack(piece);
      sendBytes(to, code, contentType, all);
      return;
    }
    if (reply.sent) return;
    const isCompressed = code === 200 && wantsGzip(reply);
    const headers = takeOver(context, reply, contentType);
    withVary(headers);
    if (isCompressed) headers['content-encoding'] = 'gzip';
    reply.raw.writeHead(code, headers);
    if (reply.request.method === 'HEAD') {
      reply.raw.end();
      return;
    }
    await writePieces(reply.raw, continued(begun, iterator), isCompressed, reply.request.plinthContext);
  } finally {
    if (!done) await iterator.return?.();
  }
}

function bytesOf(piece: string | Uint8Array): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece);
  return Buffer.isBuffer(piece) ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}

/** The pieces that were already read, then the rest. */
async function* continued(
  begun: Buffer[],
  rest: AsyncIterator<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  for (let piece = begun.shift(); piece !== undefined; piece = begun.shift()) yield piece;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return;
    yield next.value;
  }
}

/**
 * Takes the response over from Fastify and returns the headers so far. Fastify's serialization would add a charset,
 * which JSON does not have (RFC 8259 section 11).
 */
export function takeOver(context: RequestContext, reply: FastifyReply, contentType: string): OutgoingHttpHeaders {
  setCommonHeaders(context, reply);
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  headers['content-type'] = contentType;
  return headers;
}

/** Adds a `Vary` header even to uncompressed responses, if other clients get the response compressed. */
export function withVary(headers: OutgoingHttpHeaders): void {
  headers.vary = headers.vary === undefined ? 'Accept-Encoding' : `${String(headers.vary)}, Accept-Encoding`;
}

/**
 * Sets the headers of every response. Caching is never allowed. Warnings are sent as headers (RFC 7234 section 5.5).
 */
export function setCommonHeaders(context: RequestContext, reply: FastifyReply): void {
  reply.header('cache-control', 'no-cache, private');
  if (context.warnings.length > 0) reply.header('warning', context.warnings.map(formatWarning));
}

/** `299 - "<text>"`, quoted, without characters that a header can't contain. */
export function formatWarning(text: string): string {
  const safe = text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
  return `299 - "${safe}"`;
}
