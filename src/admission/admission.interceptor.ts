import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { AdmissionFunctions, AdmissionSubject, RequestContext, UserInfo } from '../machinery/request-context.js';
import { ResourceRegistry } from '../registry/resource-registry.js';
import type { AdmissionAttributes } from './attributes.js';
import { AdmissionChain } from './chain.js';

/**
 * Puts the admission functions of a writing request into its context. It decides nothing: the body is not read yet, and
 * the chain runs where the objects are known (handlers call `admit`, the store calls `validate`).
 */
@Injectable()
export class AdmissionInterceptor implements NestInterceptor {
  constructor(
    @Inject(AdmissionChain) private readonly chain: AdmissionChain,
    @Inject(ResourceRegistry) private readonly registry: ResourceRegistry,
  ) {}

  intercept(host: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = host.switchToHttp().getRequest<FastifyRequest & { plinthContext: RequestContext }>();
    request.plinthContext.admission = this.functionsFor(request.plinthContext);
    return next.handle();
  }

  /** Admission bound to one request. */
  functionsFor(context: RequestContext): AdmissionFunctions {
    const info = context.requestInfo;
    const { apiGroup: group, apiVersion: version, resource } = info;
    const kind = this.registry.find(group, version, resource)?.definition.kind ?? '';
    const attributes = (subject: AdmissionSubject): AdmissionAttributes => ({
      context,
      operation: subject.operation,
      resource: { group, version, resource },
      subresource: info.subresource,
      kind: { group, version, kind },
      namespace: info.namespace,
      name: subject.name,
      object: subject.object,
      oldObject: subject.oldObject,
      options: subject.options,
      dryRun: subject.dryRun,
      userInfo: context.user as UserInfo,
    });
    return {
      admit: (subject) => this.chain.admit(attributes(subject)),
      validate: (subject) => this.chain.validate(attributes(subject)),
    };
  }
}
