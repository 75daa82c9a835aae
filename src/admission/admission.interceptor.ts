import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { AUTHORIZER, type Authorizer, attributesOf } from '../machinery/authorizer.js';
import { deniedError } from '../machinery/denied-error.js';
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
    @Inject(AUTHORIZER) private readonly authorizer: Authorizer,
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
      validate: async (subject) => {
        if (subject.operation === 'CREATE' && info.verb !== 'create') await this.authorizeCreation(context);
        await this.chain.validate(attributes(subject));
      },
      mayRead: () => this.mayRead(context),
    };
  }

  private async mayRead(context: RequestContext): Promise<boolean> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb: 'get' };
    try {
      return (await this.authorizer.authorize(asked)).decision === 'allow';
    } catch {
      // The object is gone by now: what can't be found out must not make a failure of that.
      return false;
    }
  }

  /**
   * An update or an apply turned out to create its object: only now it is known that the sender needs the right to
   * create as well. Throws the 403.
   */
  private async authorizeCreation(context: RequestContext): Promise<void> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb: 'create' };
    const { decision, reason } = await this.authorizer.authorize(asked);
    if (decision !== 'allow') throw deniedError(asked, reason);
  }
}
