import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { IssuerDocuments } from '../../authentication/service-account/issuer-documents.js';
import { unknownPathError } from '../../machinery/status-error.js';

/** Injection token of what {@link ServiceAccountIssuerController} answers: `{ documents }`, which gives those of now, undefined for nothing. */
export const ISSUER_DOCUMENTS = Symbol('IssuerDocuments');

/** Keys change, so the documents do. */
export interface IssuerDocumentsSource {
  documents(): IssuerDocuments | undefined;
}

/** How long the answers may be kept; new keys are accepted by servers well before they sign. */
const cacheControl = 'public, max-age=3600';

/** Where the answers are, for lists of paths. */
export const issuerDocumentPaths: readonly string[] = ['/.well-known/openid-configuration', '/openid/v1/jwks'];

/** Discovery of the issuer of service account tokens, for parties that check tokens themselves. */
@Controller()
export class ServiceAccountIssuerController {
  constructor(@Inject(ISSUER_DOCUMENTS) private readonly issuer: IssuerDocumentsSource) {}

  @Get('.well-known/openid-configuration')
  configuration(@Res() reply: FastifyReply): void {
    this.send(reply, 'application/json', this.issuer.documents()?.configuration);
  }

  @Get('openid/v1/jwks')
  keySet(@Res() reply: FastifyReply): void {
    this.send(reply, 'application/jwk-set+json', this.issuer.documents()?.keySet);
  }

  private send(reply: FastifyReply, contentType: string, text: string | undefined): void {
    if (text === undefined) throw unknownPathError();
    // A text would get a character set that neither type has.
    const bytes = Buffer.from(text);
    // A time-out may have answered already.
    if (reply.sent) return;
    void reply.code(200).header('cache-control', cacheControl).header('content-type', contentType).send(bytes);
  }
}
