import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { pageNotFoundError } from '../../base/machinery/status-error.js';
import type { HttpRequestContext } from './request-info/http-request-context.js';

/** For paths outside the API: those with a slash at their end are other ones, which nothing serves. */
@Injectable()
export class ExactPathGuard implements CanActivate {
  canActivate(host: ExecutionContext): boolean {
    const { plinthContext } = host.getArgByIndex<FastifyRequest>(0);
    if ((plinthContext as HttpRequestContext).requestInfo.path.endsWith('/')) throw pageNotFoundError();
    return true;
  }
}
