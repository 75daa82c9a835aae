import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageNotFoundError, StatusError } from '../../../base/machinery/status-error.js';
import type { IssuerDocuments } from '../../authentication/service-account/issuer-documents.js';

/** Injection token of the {@link IssuerDocumentsSource} that {@link ServiceAccountIssuerController} serves. */
export const ISSUER_DOCUMENTS = Symbol('IssuerDocuments');

/** Returns the current documents, which change with the keys; undefined if there are none. */
export interface IssuerDocumentsSource {
  documents(): IssuerDocuments | undefined;
}

/** How long the responses may be cached; servers publish new keys well before they sign with them. */
const cacheControl = 'public, max-age=3600';

/** The paths of the documents, for the list of all paths. */
export const issuerDocumentPaths: readonly string[] = ['/.well-known/openid-configuration', '/openid/v1/jwks'];

/** Discovery of the issuer of service account tokens, for parties that verify tokens themselves. */
@Controller()
export class ServiceAccountIssuerController {
  constructor(@Inject(ISSUER_DOCUMENTS) private readonly issuer: IssuerDocumentsSource) {}

  @Get('.well-known/openid-configuration')
  configuration(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.send(request, reply, 'application/json', this.issuer.documents()?.configuration);
  }

  @Get('openid/v1/jwks')
  keySet(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.send(request, reply, 'application/jwk-set+json', this.issuer.documents()?.keySet);
  }

  private send(request: FastifyRequest, reply: FastifyReply, contentType: string, text: string | undefined): void {
    if (text === undefined) throw pageNotFoundError();
    if (!accepts(request.headers.accept, contentType)) {
      const message = `406: Not Acceptable\n\nAvailable representations: ${contentType}`;
      throw new StatusError('NotAcceptable', message, { details: {} });
    }
    // Sent as bytes, since Fastify would add a charset to a string, which neither type has.
    const bytes = Buffer.from(text);
    // The request may have timed out and got its response already.
    if (reply.sent) return;
    void reply.code(200).header('cache-control', cacheControl).header('content-type', contentType).send(bytes);
  }
}

/** Whether a client takes the one form of a document: it names the form, or any. Other wildcards don't count. */
function accepts(accept: string | undefined, contentType: string): boolean {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim() ?? '');
  return accept === undefined || accept === '' || types.includes('*/*') || types.includes(contentType);
}
