import { All, Controller, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notAcceptableError } from '../../../base/machinery/status-error.js';
import { aggregatorUser } from '../../aggregation/availability.js';
import { VERSION_INFO, type VersionInfo } from '../discovery/discovery.controller.js';
import { EndpointServices } from '../endpoint-services.js';
import { ExactPathGuard } from '../exact-path.guard.js';
import { parseAccept, plainJsonType } from '../negotiation/accept.js';
import { acceptsGzip } from '../negotiation/compression.js';
import { sendBytes, setCommonHeaders } from '../negotiation/respond.js';
import { sendPacked } from '../negotiation/send-packed.js';
import { handleRemote } from '../remote/handle-remote.js';
import { remoteOf } from '../remote/remote-requests.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import { type DocumentForm, type OpenApiDocument, OpenApiDocuments } from './openapi-documents.js';

/** Media type of the list of documents; clients read the list as JSON anyway. */
const plainText = 'text/plain; charset=utf-8';
/** How long a document whose URL contains its digest may be cached: it never changes. */
const immutableSeconds = 365 * 24 * 60 * 60;

/** OpenAPI documents: one Swagger 2.0 document of everything, and an OpenAPI 3.0 document for each group version. */
@Controller('openapi')
export class OpenApiController {
  private readonly documents: OpenApiDocuments;

  constructor(
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(VERSION_INFO) version: VersionInfo,
  ) {
    // With upstream's vendor names, the title and version are those that upstream's tools show.
    const isUpstream = services.names.systemNamespace === 'kube-system';
    this.documents = new OpenApiDocuments(services, {
      title: isUpstream ? 'Kubernetes' : 'Plinth',
      version: `${version.major}.${version.minor}`,
    });
  }

  @All('v2')
  @UseGuards(ExactPathGuard)
  async swagger(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const form = acceptedForm(request.headers.accept, 2);
    await send(request, reply, await this.documents.swagger(form), contentType(form, 2));
  }

  @All('v3')
  async index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const context = request.plinthContext as HttpRequestContext;
    if (/^[^?]*\/(?:\?|$)/.test(request.url)) return sendNothing(context, reply);
    const paths: Record<string, { serverRelativeURL: string }> = {};
    for (const [path, digest] of await this.documents.index()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${digest}` };
    }
    for (const [path, url] of await this.documents.remoteIndex()) paths[path] = { serverRelativeURL: url };
    sendBytes({ context, reply }, 200, plainText, Buffer.from(JSON.stringify({ paths })));
  }

  @All('v3/*')
  async openApi3(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const context = request.plinthContext as HttpRequestContext;
    const path = context.requestInfo.path.slice('/openapi/v3/'.length);
    const remote = remoteOf(this.services.aggregation, `/${path}`);
    if (remote !== undefined && path === `apis/${remote.group}/${remote.version}`) {
      // The request is sent as this server's user: clients that may read documents here may read this one too.
      return handleRemote(this.services, remote, request, reply, { user: aggregatorUser });
    }
    const form = acceptedForm(request.headers.accept, 3);
    const document = await this.documents.openApi3(path, form);
    const json = form === 'json' ? document : await this.documents.openApi3(path, 'json');
    if (document === undefined || json === undefined) return sendNothing(context, reply);
    const asked = context.query.get('hash');
    if (asked !== null && asked !== json.digest) {
      setCommonHeaders(context, reply);
      reply.code(301).header('location', `/openapi/v3/${path}?hash=${json.digest}`).send();
      return;
    }
    await send(request, reply, document, contentType(form, 3), asked !== null);
  }
}

/** Media type of the protobuf form. Clients request it with an `@`, which is not allowed in a Content-Type. */
function protobufType(version: 2 | 3, separator: '@' | '.'): string {
  return `application/com.github.proto-openapi.spec.v${version}${separator}v1.0+protobuf`;
}

function contentType(form: DocumentForm, version: 2 | 3): string {
  return form === 'json' ? plainJsonType.contentType : protobufType(version, '.');
}

function acceptedForm(header: string | undefined, version: 2 | 3): DocumentForm {
  if (header === undefined || header === '') return 'json';
  for (const { type, quality } of parseAccept(header)) {
    if (quality <= 0) continue;
    if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
    if (type === protobufType(version, '@') || type === protobufType(version, '.')) return 'protobuf';
  }
  throw notAcceptableError([plainJsonType.contentType, protobufType(version, '@')]);
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  document: OpenApiDocument,
  type: string,
  isImmutable = false,
): Promise<void> {
  const context = request.plinthContext as HttpRequestContext;
  const etag = `"${document.digest}"`;
  setCommonHeaders(context, reply);
  if (isImmutable) {
    const expires = new Date(Date.now() + immutableSeconds * 1000).toUTCString();
    reply.header('cache-control', 'public, immutable').header('expires', expires);
  }
  reply.header('etag', etag).header('vary', 'Accept, Accept-Encoding');
  if (namesTag(request.headers['if-none-match'], etag)) {
    reply.code(304).send();
    return;
  }
  await sendPacked(reply, type, document, acceptsGzip(request.headers['accept-encoding']));
}

function namesTag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') ?? false;
}

/** Sends the response for a path without a document: no body, like upstream. */
function sendNothing(context: HttpRequestContext, reply: FastifyReply): void {
  setCommonHeaders(context, reply);
  reply.code(404).send();
}
